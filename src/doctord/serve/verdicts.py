"""What is wrong in each lake and what runs out, worked out again and again for whoever is told of it without asking.

That costs CPU: nobody's, as long as nobody wants to know.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

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
    """The documents that were last worked out of a lake; null before that."""

    findings: Mapping[str, Any] | None = None
    forecast: Mapping[str, Any] | None = None
    forecast_at_s: float = float("-inf")


class Verdicts:
    """The verdicts on some lakes."""

    def __init__(self, lakes: Lakes, ask: Ask) -> None:
        """Nothing was worked out yet; `ask` gives the document of an endpoint."""
        self._ask = ask
        self.known = {name: Known() for name in lakes.places}

    async def keep(self, renewed: Callable[[Mapping[str, Known]], Awaitable[None]] | None = None) -> None:
        """Work them out again and again, one at a time, and tell `renewed` each time."""
        while True:
            for name, known in self.known.items():
                try:
                    await self._renew(name, known)
                except Exception:
                    log.exception("%s: the verdict was not renewed", name)
            if renewed:
                await renewed(self.known)
            await anyio.sleep(FINDINGS_EVERY_S)

    async def _renew(self, name: str, known: Known) -> None:
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
