"""Import PyTorch when it is first needed, and choose its device."""

from __future__ import annotations

from typing import Any

from poise.errors import AlgorithmError, ArgumentError

__all__ = ["chosen_device", "import_torch"]


def import_torch() -> Any:
    """Import PyTorch, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise AlgorithmError("PyTorch is not installed: pip install 'poise[torch]'") from error
    return torch


def chosen_device(name: str) -> Any:
    """Return the device of this name; "auto" is a GPU if there is one.

    Examples
    --------
    >>> str(chosen_device("cpu"))
    'cpu'
    """
    torch = import_torch()
    gpu = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if gpu else "cpu")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ArgumentError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}") from None
    if device.type == "cuda" and not gpu:
        raise ArgumentError("device='cuda' needs a GPU that PyTorch can use; none was found")
    return device
