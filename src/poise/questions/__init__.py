"""Questions people bring: each checks everything first, then fits, then judges."""
