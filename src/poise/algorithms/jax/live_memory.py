"""The memory of a traced function: intermediate results that live at the same time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

__all__ = ["peak_bytes"]

_BYTES_OF_A_KEY = 8


def peak_bytes(traced: Any) -> int:
    """Return the most memory that intermediate results of a traced function take at once.

    A compiler may need less, because it fuses operations, or a little more. To ask it would take
    as long as to compile the function.

    Parameters
    ----------
    traced : jaxpr
        ``jax.make_jaxpr(function)(…).jaxpr``.

    Examples
    --------
    >>> import jax
    >>> def product_of_sums(a):
    ...     return (a + 1.0) @ (a + 2.0)
    >>> a = jax.ShapeDtypeStruct((10, 10), "float32")
    >>> peak_bytes(jax.make_jaxpr(product_of_sums)(a).jaxpr) == 3 * 10 * 10 * 4
    True
    """
    last = _last_uses(traced)
    live = peak = 0
    for place, equation in enumerate(traced.eqns):
        live += sum(map(_size, equation.outvars))
        inside = max(map(peak_bytes, _inner_functions(equation)), default=0)
        peak = max(peak, live + inside)
        used = {v for v in [*equation.invars, *equation.outvars] if not hasattr(v, "val")}
        live -= sum(_size(v) for v in used if last.get(v) == place)
    return peak


def _last_uses(traced: Any) -> dict[Any, int]:
    """Return where each intermediate result is used last; those of the whole function stay."""
    last: dict[Any, int] = {}
    for place, equation in enumerate(traced.eqns):
        last.update(dict.fromkeys(equation.outvars, place))
        last.update((v, place) for v in equation.invars if not hasattr(v, "val") and v in last)
    for result in traced.outvars:
        if not hasattr(result, "val"):
            last.pop(result, None)
    return last


def _inner_functions(equation: Any) -> Iterator[Any]:
    """Yield the bodies of loops and branches; a kernel has its memory elsewhere."""
    if equation.primitive.name == "pallas_call":
        return
    for value in equation.params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            body = getattr(each, "jaxpr", each)
            if hasattr(body, "eqns"):
                yield body


def _size(variable: Any) -> int:
    shape = getattr(variable.aval, "shape", ())
    width = getattr(getattr(variable.aval, "dtype", None), "itemsize", _BYTES_OF_A_KEY)
    return int(math.prod(shape) * width)
