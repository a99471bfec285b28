"""The page of a fleet, made anew again and again by a process of its own: what `doctord fleet report` writes."""

import logging
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response

from doctord.serve.problems import Problem

PATH: Final = "/fleet"
# Its bars are as long as their style says.
_STYLED: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
}
# Ten thousand hosts take longer; who has them looks less often.
LONGEST_S: Final = 3600.0
_TO_END_S: Final = 10.0
_TOLD: Final = 300  # characters of why there is none
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FleetAsked:
    """Which fleet is shown, of how much time up to now, and how often that is looked at anew."""

    place: str
    since: str = "-2h"
    every_s: float = 900.0


class FleetPage:
    """The page as it was last made."""

    def __init__(self, asked: FleetAsked) -> None:
        """Nothing was made yet."""
        self._asked = asked
        self._content: bytes | None = None
        self._made_s = 0.0
        self._why = "the hosts are being judged"

    async def keep(self) -> None:
        """Make it again and again; what goes wrong is told in the log, and the page of before stays."""
        with tempfile.TemporaryDirectory(prefix="doctord-fleet-") as folder:
            while True:
                try:
                    with anyio.fail_after(max(LONGEST_S, self._asked.every_s)):
                        await self._make(Path(folder) / "fleet.html")
                except (OSError, TimeoutError) as error:
                    self._failed(str(error) or "it took too long")
                await anyio.sleep(self._asked.every_s)

    async def _make(self, file: Path) -> None:
        asked = self._asked
        command = [sys.executable, "-P", "-m", "doctord", "fleet", "report", asked.place, "--from", asked.since, "-o"]
        process = await anyio.open_process(
            [*command, str(file), "--processes", "1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, 19)  # whoever looks at a page comes first
        async with process:
            try:
                said = b"".join([part async for part in process.stderr]) if process.stderr else b""
                await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    with anyio.move_on_after(_TO_END_S, shield=True):  # so that what it fetched is removed
                        await process.wait()
        if file.exists():
            self._content, self._made_s = file.read_bytes(), anyio.current_time()
            file.unlink()
        else:
            self._failed(said.decode(errors="replace").strip())

    def _failed(self, said: str) -> None:
        self._why = said[-_TOLD:]
        log.warning("%s: no page of the fleet was made: %s", self._asked.place, self._why)

    async def answer(self, _request: Request) -> Response:
        """The page, which a browser asks for anew by itself.

        Raises:
            Problem: there is none yet.
        """
        if self._content is None:
            raise Problem(503, "there is no page of the fleet yet", self._why, {"Retry-After": "10", "Refresh": "10"})
        if anyio.current_time() - self._made_s > 2 * max(LONGEST_S, self._asked.every_s):
            raise Problem(503, "the page of the fleet is old, and was not made anew", self._why, {"Retry-After": "60"})
        headers = {"Cache-Control": "no-store", "Refresh": f"{self._asked.every_s:.0f}", **_STYLED}
        return Response(self._content, 200, headers, "text/html; charset=utf-8")
