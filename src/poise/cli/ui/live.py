"""Server-sent events: the browser learns that a run has appeared, grown or ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from poise.cli.ui.run_index import RunIndex

__all__ = ["events"]

_SECONDS_BETWEEN_LOOKS = 0.5
_LOOKS_BETWEEN_SIGNS_OF_LIFE = 20


def events(request: Request, index: RunIndex, closing: Callable[[], bool]) -> StreamingResponse:
    """Send the version of the list whenever it has changed, until the page or server is closed."""

    async def versions() -> AsyncIterator[str]:
        sent, looks = -1, 0
        while not closing() and not await request.is_disconnected():
            version = await run_in_threadpool(index.refresh)
            if version != sent:
                yield f"event: runs\ndata: {version}\n\n"
                sent = version
            elif looks % _LOOKS_BETWEEN_SIGNS_OF_LIFE == 0:
                yield ": still here\n\n"
            looks += 1
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)

    return StreamingResponse(versions(), media_type="text/event-stream")
