"""How fast figures of sysstat are read: sar's text, and binary days through sadf, each beside its peer in one run.

    .venv/bin/python benchmarks/reading/read_sar.py

Days of records at 10 s and at 1 s are made of a recording (of the corpus, or of a minute that sadc records now) by
sa_day.py; sar's text of the day at 10 s is what is read as text. Peers: `sadf -j FILE -- -A > /dev/null`
(what the reader waits for), `sadf -d` likewise on a part of the day and scaled, for the text a Python loop that splits
each line. Each run is a process of its own, from its start to its end, Python's included; the figures are medians of
runs in turn. CPU seconds are those of all its processes: sadf's are in doctord's.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sa_day

CORPUS = Path(os.environ.get("DOCTORD_CORPUS", "../shared/corpus"))
PART = 24  # sadf -d takes a minute for the day at 1 s: an hour of it is timed
READ = """
import sys
from pathlib import Path
from doctord.read.formats import being_read
with being_read(Path(sys.argv[1])) as (name, batches, source):
    print(sum(map(len, batches)), source.skipped_lines)
"""
SPLIT = """
import sys
with open(sys.argv[1]) as text:
    print(sum(len(line.split()) for line in text))
"""
IN_UTC = {"LC_ALL": "C", "TZ": "UTC"}


def main() -> None:
    """Measure, and print a table for text and one for each day."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 1], help="seconds between records of the days")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="doctord-sar-", dir="/var/tmp") as name:
        folder = Path(name)
        recording = sa_day.read(_recorded(folder))
        for step in arguments.steps:
            day = folder / f"day{step}"
            sa_day.write(recording, day, step)
            if step == max(arguments.steps):
                _measure_text(day, arguments.rounds)
            _measure_day(recording, day, step, arguments.rounds)
            day.unlink()


def _recorded(folder: Path) -> Path:
    known = CORPUS / "testbed" / "sa_1s_60.bin"
    if known.exists():
        return known
    made = folder / "recording"
    subprocess.run(["/usr/lib/sysstat/sadc", "-S", "ALL", "1", "60", made], check=True)
    return made


def _measure_text(day: Path, rounds: int) -> None:
    text = day.with_suffix(".txt")
    with text.open("wb") as out:
        subprocess.run(["sar", "-A", "-f", day], check=True, stdout=out, env=os.environ | IN_UTC)
    megabytes = text.stat().st_size / 1e6
    print(f"\nsar -A, {megabytes:.0f} MB of text; medians of {rounds}")
    print("\n| what | MB/s | seconds | CPU seconds |\n|---|---|---|---|")
    contenders = {
        "doctord": [sys.executable, "-c", READ, str(text)],
        "Python, each line split": [sys.executable, "-c", SPLIT, str(text)],
    }
    for name, (seconds, cpu) in _medians(contenders, rounds).items():
        print(f"| {name} | {megabytes / seconds:.0f} | {seconds:.2f} | {cpu:.2f} |")


def _measure_day(recording: sa_day.Recording, day: Path, step: int, rounds: int) -> None:
    part = day.with_name(f"part{step}")
    sa_day.write(recording, part, step, sa_day.DAY_S // PART)
    contenders = {
        "sadf -j": ["sadf", "-j", str(day), "--", "-A"],
        "doctord": [sys.executable, "-c", READ, str(day)],
        "sadf -d": ["sadf", "-d", str(part), "--", "-A"],
    }
    medians = _medians(contenders, rounds)
    medians[f"sadf -d, 1/{PART} of it, scaled"] = tuple(figure * PART for figure in medians.pop("sadf -d"))
    print(f"\na day at {step} s, {day.stat().st_size / 1e6:.0f} MB; medians of {rounds}")
    print("\n| what | seconds | CPU seconds | times sadf -j |\n|---|---|---|---|")
    for name, (seconds, cpu) in medians.items():
        print(f"| {name} | {seconds:.2f} | {cpu:.2f} | {seconds / medians['sadf -j'][0]:.2f} |")


def _medians(contenders: dict[str, list[str]], rounds: int) -> dict[str, tuple[float, ...]]:
    """Seconds of the wall clock and of CPUs that each command takes."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, command in contenders.items():
            taken[name].append(_run(command))
    return {
        name: tuple(statistics.median(column) for column in zip(*runs, strict=True)) for name, runs in taken.items()
    }


def _run(command: list[str]) -> tuple[float, float]:
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | IN_UTC) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
