"""Where no thread may be started (RLIMIT_NPROC, a control group's pids.max), one reads it all."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Root may always have more threads, so that another user it is.
ALONE = """
import json, os, resource, sys, threading
import pyarrow as pa
from doctord import _native
from doctord.dataset.tables import TABLES
LAYOUTS = {name: table.layout for name, table in TABLES.items()}
kind, path, limited = sys.argv[1:]
text = open(path, "rb").read()
descriptor = os.open(path, os.O_RDONLY)
if limited == "True":
    if os.geteuid() == 0:
        os.setresuid(65531, 65531, 65531)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    try:
        threading.Thread(target=len, args=("",)).start()
        sys.exit("a thread was started")
    except RuntimeError:
        pass
if kind == "trace":
    trace = _native.analyse_trace([f"/proc/self/fd/{descriptor}"], threads=4)
    told = [trace["trace"]["calls"], trace["loop"] is None, trace["totals"]["in_calls_s"]]
else:
    log = _native.ServerLog("stderr", text[:4096], threads=4)
    log.add(text)
    log.quarters()
    batches = log.rows("postgresql", "here", None, LAYOUTS, {})
    told = [sum(pa.record_batch(batch)["count"].to_pylist()) for batch in batches if batch.table == "latency"]
print(json.dumps(told))
"""
TRACE = '100 1763640000.{n:06d} read(3, "x", 1) = 1 <0.000005>\n'
LOG = "2026-11-20 12:00:{s:02d}.000 UTC [{n}] LOG:  duration: 12.345 ms  statement: select {n}\n"


def told(kind: str, file: Path, *, limited: bool) -> list[object]:
    command = [sys.executable, "-c", ALONE, kind, str(file), str(limited)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("trace", [TRACE.format(n=n) for n in range(60_000)]),
        ("log", [LOG.format(s=n % 60, n=n) for n in range(20_000)]),
    ],
)
def test_no_thread_is_needed(tmp_path: Path, kind: str, lines: list[str]) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("".join(lines))
    alone = told(kind, file, limited=True)
    assert alone == told(kind, file, limited=False)
    assert alone[0] == len(lines), alone
