"""Claims beyond the paper."""
