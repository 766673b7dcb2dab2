"""Questions about values whose answer is known for arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def unless_array(question: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the question with the answer "no" for what is a NumPy array and nothing else."""

    @wraps(question)
    def asked(value: Any) -> Any:
        return type(value) is not np.ndarray and question(value)

    return asked
