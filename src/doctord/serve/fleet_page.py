"""The page of a fleet, made anew again and again by a process of its own: what `doctord fleet report` writes."""

import logging
import os
import subprocess
import sys
import tempfile
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
_TOLD: Final = 300  # characters of why there is none
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FleetAsked:
    """Which fleet is shown, of how much time up to now, and how often that is looked at anew."""

    place: str
    since: str = "-1h"
    every_s: float = 900.0


class FleetPage:
    """The page as it was last made."""

    def __init__(self, asked: FleetAsked) -> None:
        """Nothing was made yet."""
        self._asked = asked
        self._content: bytes | None = None
        self._why = "the hosts are being judged"

    async def keep(self) -> None:
        """Make it again and again; what goes wrong is told in the log, and the page of before stays."""
        with tempfile.TemporaryDirectory(prefix="doctord-fleet-") as folder:
            while True:
                await self._make(Path(folder) / "fleet.html")
                await anyio.sleep(self._asked.every_s)

    async def _make(self, file: Path) -> None:
        asked = self._asked
        command = [sys.executable, "-m", "doctord", "fleet", "report", asked.place, "--from", asked.since, "-o"]
        try:
            process = await anyio.open_process(
                [*command, str(file), "--processes", "1"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            os.setpriority(os.PRIO_PROCESS, process.pid, 19)  # whoever looks at a page comes first
        except OSError as error:
            self._failed(str(error))
            return
        async with process:
            try:
                said = b"".join([part async for part in process.stderr]) if process.stderr else b""
                await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
        if file.exists():
            self._content = file.read_bytes()
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
        headers = {"Cache-Control": "no-store", "Refresh": f"{self._asked.every_s:.0f}", **_STYLED}
        return Response(self._content, 200, headers, "text/html; charset=utf-8")
