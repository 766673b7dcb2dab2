"""``python -m poise`` is the command ``poise``."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
        del sys.path[0]  # put there by ``-m``: a csv.py beside the data must not be imported

    from poise.cli import main

    main()
