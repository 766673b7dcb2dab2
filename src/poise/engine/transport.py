"""Work in a file: the parent writes it once, every worker process of this machine maps it.

Arrays lie outside the pickle, so workers share their pages. A memory map is named, not copied.
What user code defines in the main script or inside a function travels by value.
"""

from __future__ import annotations

import io
import mmap
import pickle
import traceback
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from poise.engine.messages import Answer
from poise.errors import AlgorithmError, in_one_line

_ALIGNED = 64


def write(content: object, path: Path) -> None:
    """Write an object: its arrays, each on its own, and behind them the pickle."""
    arrays: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    _Pickler(body, 5, buffer_callback=arrays.append).dump(content)
    with path.open("wb") as file:
        spans = []
        for array in arrays:
            raw = array.raw()
            file.write(bytes(-file.tell() % _ALIGNED))
            spans.append((file.tell(), file.tell() + raw.nbytes))
            file.write(raw)
        head = file.tell()
        pickle.dump((spans, body.getvalue()), file)
        file.write(head.to_bytes(8, "little"))


@lru_cache(maxsize=1)
def read(path: str) -> Any:
    """Read what was written; its arrays are views of the file, whose changes stay here."""
    with open(path, "rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    spans, body = pickle.loads(view[int.from_bytes(view[-8:], "little") : -8])
    return _Unpickler(io.BytesIO(body), buffers=[view[a:b] for a, b in spans]).load()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def persistent_id(self, obj: object) -> tuple[Any, ...] | None:
        """Name a file that is mapped as a whole, if it still holds what was mapped."""
        array: Any = obj
        mapped: Any = array.base if type(obj) is np.ndarray else obj
        file: Any = getattr(mapped, "base", None)
        if type(mapped) is not np.memmap or not isinstance(file, mmap.mmap):
            return None  # no map, or a part of one
        same = all(getattr(array, n) == getattr(mapped, n) for n in ("shape", "strides", "dtype"))
        if not same or mapped.mode == "c" or not _holds(mapped):  # changes that no file has
            return None
        order = "F" if mapped.ndim > 1 and mapped.flags.f_contiguous else "C"
        return str(mapped.filename), mapped.dtype, mapped.shape, mapped.offset, order


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> np.ndarray[Any, Any]:
        path, dtype, shape, offset, order = pid
        # Taking rows from np.memmap itself is a third slower.
        return np.asarray(np.memmap(path, dtype, "r", offset, shape, order))


def _holds(mapped: Any) -> bool:
    path = Path(str(mapped.filename))
    return path.is_file() and path.stat().st_size >= mapped.offset + mapped.nbytes


def packed(answers: list[Answer]) -> bytes:
    """Pickle answers; what cannot be pickled, or not read again, travels as its text."""
    try:
        body = pickle.dumps(answers)
        for answer in answers:
            if answer.failure and answer.failure.cause:
                str(pickle.loads(pickle.dumps(answer.failure.cause)))
        return body
    except KeyboardInterrupt:
        raise
    except BaseException:  # an exception of user code may do anything
        return pickle.dumps([_as_text(answer) for answer in answers])


def unpacked(body: bytes | str | KeyboardInterrupt) -> list[Answer]:
    """Return the answers of a worker, or raise why there are none."""
    if isinstance(body, KeyboardInterrupt):
        raise body
    if isinstance(body, str):
        raise cannot_travel(body)
    answers: list[Answer] = pickle.loads(body)
    return answers


def cannot_travel(reason: str) -> AlgorithmError:
    """Say that user code cannot be written here, or read there."""
    remedy = {"n_jobs": 1}
    problem = f"cannot be sent to a worker process: {reason}"
    return AlgorithmError(problem, argument="algorithm", remedy=remedy)


def _as_text(answer: Answer) -> Answer:
    """Give the cause of a failure a form that can be read everywhere."""
    if answer.failure is None or answer.failure.cause is None:
        return answer
    cause = answer.failure.cause
    try:
        text = "".join(traceback.format_exception(cause))
    except Exception:
        text = in_one_line(cause)
    return replace(answer, failure=replace(answer.failure, cause=RuntimeError(text)))
