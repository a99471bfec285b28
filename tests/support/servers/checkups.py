"""Check-ups of private servers, by the command itself."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from servers import PostgresServer

LOOKS = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'doctord'"


def checkup(dsn: str, seconds: int = 6) -> tuple[int, dict[str, Any]]:
    """Its exit status and its document."""
    done = subprocess.run(_command(dsn, seconds), capture_output=True, text=True, timeout=180, check=False)
    return done.returncode, json.loads(done.stdout)


def checkup_while(server: PostgresServer, happens: Callable[[], object], seconds: int) -> tuple[int, dict[str, Any]]:
    """The same, and something happens soon after it began to look."""
    return checkup_during(server.dsn(), lambda: bool(server.execute(LOOKS)), happens, seconds)


def checkup_during(
    dsn: str, is_looking: Callable[[], bool], happens: Callable[[], object], seconds: int
) -> tuple[int, dict[str, Any]]:
    """The same of any server."""
    command = _command(dsn, seconds)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        until = time.monotonic() + 60
        while not is_looking():
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(2)
        happens()
        out = process.communicate(timeout=180)[0]
    return process.returncode, json.loads(out)


def causes(verdict: dict[str, Any]) -> list[str]:
    """Names of the causes, the worst first."""
    return [finding["cause"] for finding in verdict["findings"]]


def _command(dsn: str, seconds: int) -> list[Path | str]:
    doctord = Path(sys.executable).with_name("doctord")
    return [doctord, "checkup", "--for", f"{seconds}s", "--json", "--dsn", dsn]
