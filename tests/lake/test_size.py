"""What the recorder takes stays what it is, however long it runs, and a slow disk stops nobody."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HEAD = """
import json, sys, threading, time
from pathlib import Path
from doctord._native import SegmentWriter, seal_segment
from doctord.dataset.rows import now_us, rows
from doctord.lake.writer import LakeWriter

def mib(name="VmRSS"):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

def some(count, at):
    row = {"host": "h", "component": "c", "name": "n", "unit": "count", "kind": "gauge", "interval_s": 1.0}
    moments = (at * 10**6 + n for n in range(count))
    return rows("statistic", [row | {"ts": ts, "entity": f"e{ts % 97}", "value": ts * 1.7} for ts in moments])
"""

SEALING = """
def segment(path, frames):
    writer = SegmentWriter(path)
    for at in range(frames):
        writer.append(some(2000, at))
        writer.sync()
    return path

folder = Path(sys.argv[1])
small, large = (segment(folder / name, frames) for name, frames in (("a.segment", 40), ("b.segment", 400)))
found = {"bytes": large.stat().st_size - small.stat().st_size}
for name, path in (("small", small), ("large", large)):
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = mib()
    seal_segment(path, folder / "sealed", "2026-11-22", {"statistic": ["entity"]})
    found[name] = mib("VmHWM") - before
print(json.dumps(found))
"""

RECORDING = """
found = []
with LakeWriter(Path(sys.argv[1]), rotate_bytes=1) as writer:
    for number in range(240):
        for _ in range(10):
            writer.append(some(50, number))
        writer.sync()
        found.append(mib())
print(json.dumps(found))
"""

FILES = """
import subprocess
from doctord.collect.linux import LinuxCollector
asleep = [subprocess.Popen(["sleep", "60"]) for _ in range(60)]
collector = LinuxCollector()
for _ in range(4):
    collector.sample()
    time.sleep(0.1)
links = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
for one in asleep:
    one.kill()
    one.wait()
print(json.dumps([sum(link.startswith(f"/proc/{one.pid}/") for link in links) for one in asleep]))
"""

MAKING = """
beats = []
with LakeWriter(Path(sys.argv[1]) / "lake") as writer:
    def beat():
        while True:
            beats.append(time.monotonic())
            writer.append(some(1, 0))
            time.sleep(0.01)
    threading.Thread(target=beat, daemon=True).start()
    time.sleep(0.1)
    began = time.monotonic()
    writer.sync()  # makes the file
    took = time.monotonic() - began
    hole = max(b - a for a, b in zip(beats, beats[1:]))
    print(json.dumps({"took": took, "hole": hole}))
"""


def told(program: str, *arguments: Path, before: tuple[str, ...] = ()) -> object:
    """What a program of its own says: memory and files of this process would be others'."""
    command = [*before, sys.executable, "-c", HEAD + program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_sealing_takes_no_more_memory_for_a_larger_segment(tmp_path: Path) -> None:
    found = told(SEALING, tmp_path)
    assert isinstance(found, dict)
    room_mib = found["bytes"] / (1 << 20)
    assert room_mib > 5, "else it would not be seen"
    assert found["large"] - found["small"] < room_mib / 3


def test_memory_does_not_grow_by_rows_nor_by_seals(tmp_path: Path) -> None:
    found = told(RECORDING, tmp_path / "lake")
    assert isinstance(found, list)
    early, late = (sorted(found[part])[20] for part in (slice(60, 100), slice(200, 240)))
    assert late - early < 2.0


def test_of_a_process_that_sleeps_one_file_stays_open(tmp_path: Path) -> None:
    found = told(FILES, tmp_path)
    assert isinstance(found, list)
    assert max(found) <= 1


def test_a_disk_that_is_slow_to_make_a_file_stops_nobody(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace, which delays the sync, is not installed")
    slow = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=700000")
    if subprocess.run([*slow, "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    found = told(MAKING, tmp_path, before=slow)
    assert isinstance(found, dict)
    assert found["took"] > 0.6
    assert found["hole"] < 0.4
