"""What the shipped unit starts works under the unit's own restrictions."""

import contextlib
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

import confined
from doctord.app.capacity.history import history
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures
from doctord.lake.imports import keep
from doctord.lake.query import Lake
from doctord.units import parse_size
from servers import running_postgres

UNIT = Path(str(files("doctord.lake").joinpath("doctord.service")))
TOLD = confined.directives(UNIT.read_text())
WHY_NOT = confined.why_not()
OLD = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=40)
CHILD_AT_MOST_MIB = 200

confinable = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

PROBES = {
    "MemoryDenyWriteExecute": "import mmap; mmap.mmap(-1, 4096, prot=7)",
    "ProtectSystem": "open('/var/tmp/doctord-probe', 'w')",
    "RestrictAddressFamilies": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "RestrictRealtime": "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
    "RestrictSUIDSGID": "import os; os.mkdir('probe', 0o2755); os.chmod('probe', 0o2755)",
    "RestrictNamespaces": "import subprocess; subprocess.run(['unshare', '--user', 'true'], check=True)",
    "CapabilityBoundingSet": "open('/proc/1/environ')",
    "SystemCallFilter": "import os; os.chroot('.')",
}


@dataclass
class Seen:
    """What a recorder took while it ran: of itself and of the processes that it started."""

    said: str = ""
    threads: int = 0
    mib: dict[str, float] = field(default_factory=dict)


def status(pid: str) -> dict[str, str]:
    """What the kernel says of a process; nothing when it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}
    return {}


def family(pid: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A process and its descendants: what it runs, and what the kernel says of it."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        words = Path(f"/proc/{pid}/cmdline").read_text()
        yield ("sums" if "doctord.app.roll_up" in words else "recorder"), status(pid)
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from family(child)


def recorded(lake: Path, *more: str) -> Seen:
    """What the unit starts, under its restrictions, ended some seconds after what was there before is gone."""
    old = list(lake.glob("sealed/*/*/*.parquet"))
    words = [word.replace("/var/lib/doctord", str(lake)) for word in shlex.split(TOLD["ExecStart"])[1:]]
    doctord = Path(sys.executable).with_name("doctord")
    command = confined.command(UNIT, lake, doctord, *words, "--for", "180s", *more)
    seen, end = Seen(), None
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recorder:
        while recorder.poll() is None:
            alive = [(what, told) for what, told in family(str(recorder.pid)) if "VmHWM" in told]
            seen.threads = max(seen.threads, sum(int(told["Threads"]) for _, told in alive))
            for what, told in alive:
                seen.mib[what] = max(seen.mib.get(what, 0.0), int(told["VmHWM"].split()[0]) / 1024)
            time.sleep(0.02)
            if end is None and not any(path.exists() for path in old):
                end = time.monotonic() + 5
            if end is not None and time.monotonic() > end:
                recorder.terminate()
                break
        seen.said = recorder.communicate()[1]
    assert recorder.returncode == 0, seen.said
    return seen


def an_hour(lake: Path, begin: datetime) -> None:
    """Rows of CPU, one a minute."""
    about = {"interval_s": 60.0, "host": "a", "usr_pct": 20.0, "sys_pct": 0.0}
    keep(lake, Dataset.from_rows(cpu=[about | {"ts": begin + timedelta(minutes=at)} for at in range(1, 61)]).tables)


def rows_of(lake: Path, table: str) -> int:
    with Lake(lake).connect([table]) as connection:
        return len(connection.sql(f"SELECT 1 FROM {table}"))


def test_every_restriction_of_the_unit_is_known_here() -> None:
    known = confined.IN_THE_MOUNTS | confined.IN_SETPRIV | confined.IN_THE_SYSTEM_CALLS
    assert set(TOLD) <= known | confined.BY_THE_TEST | confined.NOT_HERE
    assert TOLD["CapabilityBoundingSet"] == TOLD["AmbientCapabilities"], "one list serves for both"


@pytest.mark.root
@confinable
@pytest.mark.parametrize("restriction", PROBES)
def test_what_is_forbidden_is_refused(restriction: str, tmp_path: Path) -> None:
    command = confined.command(UNIT, tmp_path, sys.executable, "-c", PROBES[restriction])
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert restriction in TOLD
    assert done.returncode == 1
    assert "Error" in done.stderr


@pytest.mark.root
@pytest.mark.server
@confinable
def test_it_records_sums_up_and_lets_go(path: Path) -> None:
    an_hour(path, OLD)
    with running_postgres() as server:
        seen = recorded(path, "--dsn", server.dsn())
    assert "not summed up" not in seen.said, seen.said
    assert "Traceback" not in seen.said, seen.said
    assert rows_of(path, "memory") > 0, "of the host"
    assert rows_of(path, "wait") > 0, "of the server"
    with Lake(path).connect(["cpu"]) as connection:
        assert connection.sql("SELECT DISTINCT host FROM cpu WHERE host = 'a'").fetchall() == [], "--keep 30d"
    (series,) = history(
        Lake(path), [one for one in own_figures() if one.table == "cpu"][:1], OLD, OLD + timedelta(hours=2)
    )
    assert series.values.tolist() == [20.0]
    assert seen.mib["sums"] < CHILD_AT_MOST_MIB
    assert sum(seen.mib.values()) < parse_size(TOLD["MemoryMax"]) / (1 << 20) / 2
    assert seen.threads < int(TOLD["TasksMax"]) / 2


@pytest.mark.root
@confinable
def test_the_size_is_kept_and_what_goes_is_in_the_sums(path: Path) -> None:
    an_hour(path, datetime.now(UTC) - timedelta(hours=3))
    seen = recorded(path, "--no-databases", "--max-size", "1kB")
    assert "not summed up" not in seen.said, seen.said
    assert "in no sum" not in seen.said, seen.said
    with Lake(path).connect(["cpu"]) as connection:
        assert connection.sql("SELECT 1 FROM cpu WHERE host = 'a'").fetchall() == []
    assert (path / "rollups/rollups.json").exists()


@pytest.mark.root
@confinable
def test_what_is_not_summed_up_is_told_by_each_diagnosis(path: Path) -> None:
    an_hour(path, datetime.now(UTC) - timedelta(hours=3))
    (path / "rollups").write_text("a file where the folder would be\n")
    recorded(path, "--no-databases", "--max-size", "1kB")
    doctord = Path(sys.executable).with_name("doctord")
    told = subprocess.run([doctord, "diagnose", "--lake", path], capture_output=True, text=True, check=False).stdout
    said = " ".join(told.replace("\n", " ").split())
    assert "sums of rows: rows are not summed up" in said
    assert "in no sum: the lake is over its size" in said
