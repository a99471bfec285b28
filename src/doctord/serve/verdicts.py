"""What is wrong in each lake and what runs out, worked out again and again for whoever is told of it without asking.

That costs CPU: nobody's, as long as nobody wants to know.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import anyio
import anyio.to_thread

from doctord.errors import UserError
from doctord.serve.lakes import Lakes
from doctord.serve.problems import Problem

log = logging.getLogger(__name__)

FINDINGS_OF: Final = "-5m"
FINDINGS_EVERY_S, FORECAST_EVERY_S = 60.0, 3600.0
CLEAR: Final[Mapping[str, Any]] = {"findings": (), "others": ()}

Ask = Callable[[str, Mapping[str, str]], Awaitable[Mapping[str, Any]]]


@dataclass
class Known:
    """The documents that were last worked out of a lake, and up to when there is data in it; null before that."""

    findings: Mapping[str, Any] | None = None
    forecast: Mapping[str, Any] | None = None
    forecast_at_s: float = float("-inf")
    newest: datetime | None = None


class Verdicts:
    """The verdicts on some lakes."""

    def __init__(self, lakes: Lakes, ask: Ask) -> None:
        """Nothing was worked out yet; `ask` gives the document of an endpoint."""
        self._lakes, self._ask = lakes, ask
        self.known = {name: Known() for name in lakes.places}

    async def keep(self, renewed: Callable[[Mapping[str, Known]], Awaitable[None]] | None = None) -> None:
        """Work them out again and again, one at a time, and tell `renewed` each time."""
        while True:
            for name, known in self.known.items():
                with logged(f"{name}: the verdict was not renewed"):
                    await self._renew(name, known)
            if renewed:
                with logged("who wants to know of the verdicts was not told"):
                    await renewed(self.known)
            await anyio.sleep(FINDINGS_EVERY_S)

    async def _renew(self, name: str, known: Known) -> None:
        known.newest = await anyio.to_thread.run_sync(self._lakes.newest, name)
        known.findings = await self._asked("/findings", name, {"from": FINDINGS_OF}) or known.findings
        if anyio.current_time() - known.forecast_at_s > FORECAST_EVERY_S:
            known.forecast_at_s = anyio.current_time()
            known.forecast = await self._asked("/forecast", name, {}) or known.forecast

    async def _asked(self, path: str, lake: str, given: Mapping[str, str]) -> Mapping[str, Any] | None:
        try:
            return await self._ask(path, {"lake": lake, **given})
        except (Problem, UserError) as refusal:  # nothing was recorded just now, say: then nothing is told
            log.debug("%s: %s", path, refusal)
            return CLEAR if path == "/findings" else None


@contextmanager
def logged(what: str) -> Iterator[None]:
    """Whatever goes wrong within is told in the log: it is tried again in a minute, and no request suffers from it."""
    try:
        yield
    except Exception:
        log.exception("%s", what)
