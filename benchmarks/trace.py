"""How fast a call trace is analysed: `doctord trace` beside what people use on such logs, in one run.

    .venv/bin/python benchmarks/trace.py SAMPLE

A log of 500 MB is made of SAMPLE, one of `strace -f -ttt -T -o`, by repeating it (`benchmarks/trace_log.py`). Then,
several times in turn: the analysis on one core and on two, the whole command, mawk that only sums `<...>` by call, a
Python script with a regular expression that does the same, strace-stats of the crate strace-parse where it is
installed (`cargo install strace-parse`), and `wc -l` as the floor. Each is a process of its own: seconds from its
start to its end, and the most memory that it held. The figures are medians.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trace_log

ANALYSIS = "import sys; from doctord._native import analyse_trace; analyse_trace([sys.argv[1]], threads={threads})"
AWK = (
    '{ call = $3; sub(/\\(.*/, "", call); if (match($0, /<[0-9.]+>$/)) '
    "seconds[call] += substr($0, RSTART + 1, RLENGTH - 2) } END { for (call in seconds) print call, seconds[call] }"
)
REGEX = r"""
import re, sys
from collections import defaultdict
line_of = re.compile(rb'^(\d+) +(\d+\.\d+) (\w+)\(.*\) += (\S+).*<(\d+\.\d+)>$')
seconds = defaultdict(float)
with open(sys.argv[1], 'rb') as log:
    for line in log:
        if found := line_of.match(line):
            seconds[found[3]] += float(found[5])
print(dict(seconds))
"""


def main() -> None:
    """Measure, and print one line of a table for each."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="doctord-trace-", dir="/var/tmp") as folder:
        log = Path(folder) / "log"
        trace_log.repeat(arguments.sample.read_bytes(), log, arguments.megabytes * 1_000_000)
        megabytes = log.stat().st_size / 1e6
        print(f"{megabytes:.0f} MB; medians of {arguments.rounds} rounds")
        contenders = _contenders(log, arguments.strace_stats)
        measured: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
        for _ in range(arguments.rounds):
            for name, command in contenders.items():
                measured[name].append(_run(command))
    floor = statistics.median(seconds for seconds, _ in measured["wc -l"])
    print("| what | MB/s | seconds | times wc -l | memory, MiB |\n|---|---|---|---|---|")
    for name, runs in measured.items():
        seconds, memory = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"| {name} | {megabytes / seconds:.0f} | {seconds:.2f} | {seconds / floor:.1f} | {memory:.0f} |")


def _contenders(log: Path, strace_stats: str | None) -> dict[str, list[str]]:
    doctord = str(Path(sys.executable).with_name("doctord"))
    analysis = [sys.executable, "-c"]
    one_core = ["taskset", "--cpu-list", "0"]
    contenders = {
        "doctord, analysis, one core": [*one_core, *analysis, ANALYSIS.format(threads=1), str(log)],
        "doctord, analysis, two cores": [*analysis, ANALYSIS.format(threads=2), str(log)],
        "doctord trace --json": [doctord, "trace", str(log), "--json"],
        "mawk, sum by call": ["mawk", AWK, str(log)],
        "Python, regular expression": [sys.executable, "-c", REGEX, str(log)],
        "wc -l": ["wc", "-l", str(log)],
    }
    if strace_stats:
        contenders["strace-stats"] = [strace_stats, str(log)]
    return contenders


def _run(command: list[str]) -> tuple[float, float]:
    """Wall seconds and the most resident memory in MiB of a command."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in {0, 1}, command  # 1: doctord has findings
    return seconds, usage.ru_maxrss / 1024


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sample", type=Path, help="a log of strace -f -ttt -T -o")
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strace-stats", default=shutil.which("strace-stats"), help="the peer's program")
    return parser.parse_args()


if __name__ == "__main__":
    main()
