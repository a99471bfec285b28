"""The stream of a page: up to when there is data, said where it grows, by server-sent events."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio
import anyio.to_thread

from doctord.report.wording import iso
from doctord.serve.lakes import Lakes
from doctord.serve.problems import Problem

EVERY_S: Final = 0.4  # a recorder syncs each second: what it adds is to be seen half a second later
MOST_STREAMS: Final = 200
SILENT_S: Final = 15.0  # a proxy cuts what is silent for a minute


class Growth:
    """Looks at the lakes once for all who listen, and only while somebody does."""

    def __init__(self, lakes: Lakes, is_ending: Callable[[], bool]) -> None:
        """Nobody listens yet; who listens does so until the server ends."""
        self._is_ending = is_ending
        self._lakes, self._listeners, self._looked_s = lakes, 0, float("-inf")
        self._turn = anyio.Lock()
        self._until = dict[str, str | None]()

    async def listen(self) -> AsyncIterator[bytes]:
        """What one listener hears, until it hangs up.

        Raises:
            Problem: too many listen.
        """
        if self._listeners >= MOST_STREAMS:
            raise Problem(503, "too many pages are open", "close some", {"Retry-After": "60"})
        return self._heard()

    async def _heard(self) -> AsyncIterator[bytes]:
        said, spoke_s = dict[str, str | None](), anyio.current_time()
        self._listeners += 1
        try:
            yield b"retry: 2000\n\n"
            while not self._is_ending():
                until = await self._look()
                if until != said:
                    said, spoke_s = until, anyio.current_time()
                    yield f"event: grown\ndata: {json.dumps({'until': said})}\n\n".encode()
                elif anyio.current_time() - spoke_s > SILENT_S:
                    spoke_s = anyio.current_time()
                    yield b": still here\n\n"
                await anyio.sleep(EVERY_S)
        finally:
            self._listeners -= 1

    async def _look(self) -> dict[str, str | None]:
        async with self._turn:
            if anyio.current_time() - self._looked_s >= 0.9 * EVERY_S:
                self._until = await anyio.to_thread.run_sync(self._newest)
                self._looked_s = anyio.current_time()
        return self._until

    def _newest(self) -> dict[str, str | None]:
        return {name: iso(self._lakes.newest(name)) for name in self._lakes.places}
