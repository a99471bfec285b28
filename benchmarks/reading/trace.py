"""How fast a call trace is analysed: `doctord trace` beside what people use on such logs, in one run.

    .venv/bin/python benchmarks/reading/trace.py SAMPLE

A log of 500 MB is made of SAMPLE, one of `strace -f -ttt -T -o`, by repeating it (`trace_log.py`). Then,
several times in turn: the analysis on one core and on two, the whole command, mawk that only sums `<...>` by call, a
Python script with a regular expression that does the same, strace-stats of the crate strace-parse where it is
installed (`cargo install strace-parse`), and `wc -l` as the floor. Each is a process of its own: seconds from its
start to its end, its CPU seconds, which hardly differ on a busy machine, and the most memory that it held; only the
analysis alone takes its own time, without the start of Python. The figures are medians. strace-stats gets a log of its
own, without the lines at which it stops: signal sets `~[...]`, local sockets, halves of calls.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

UNREADABLE = re.compile(rb"^.*(?:~\[|AF_UNIX|<unfinished|resumed>).*\n", re.MULTILINE)
ANALYSIS = """
import sys, time
from doctord._native import analyse_trace
began = time.perf_counter()
analyse_trace([sys.argv[1]], threads={threads})
print(time.perf_counter() - began)
"""
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
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as it is installed, with what Python keeps compiled
    with tempfile.TemporaryDirectory(prefix="doctord-trace-", dir="/var/tmp") as folder:
        log, plain = Path(folder) / "log", Path(folder) / "plain"
        _make(arguments.sample, log, arguments.megabytes)
        plain.write_bytes(UNREADABLE.sub(b"", arguments.sample.read_bytes().rpartition(b"\n")[0] + b"\n"))
        _make(plain, plain.with_suffix(".long"), arguments.megabytes)
        os.sync()  # writing them is not what is measured
        contenders = _contenders(log, plain.with_suffix(".long"), arguments.strace_stats)
        measured: dict[str, list[tuple[float, ...]]] = {name: [] for name in contenders}
        for _ in range(arguments.rounds):
            for name, command in contenders.items():
                measured[name].append(_run(command))
    floor = statistics.median(rate for rate, *_ in measured["wc -l"])
    print(f"{arguments.megabytes} MB; medians of {arguments.rounds} rounds")
    print("| what | MB/s | seconds | CPU seconds | times wc -l | memory, MiB |\n|---|---|---|---|---|---|")
    for name, runs in measured.items():
        rate, seconds, cpu_s, memory = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"| {name} | {rate:.0f} | {seconds:.2f} | {cpu_s:.2f} | {floor / rate:.1f} | {memory:.0f} |")


def _make(sample: Path, log: Path, megabytes: int) -> None:
    """A long log of a short one, made by another process: what this one held would count as its children's memory."""
    command = [sys.executable, Path(__file__).with_name("trace_log.py"), sample, log, "--megabytes", str(megabytes)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _contenders(log: Path, plain: Path, strace_stats: str | None) -> dict[str, list[str]]:
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
        contenders["strace-stats, its own log"] = [strace_stats, str(plain)]
    return contenders


def _run(command: list[str]) -> tuple[float, ...]:
    """MB/s of the log that a command reads, its seconds, its CPU seconds, and the most resident memory in MiB."""
    log = next(Path(word) for word in reversed(command) if Path(word).is_absolute())
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout
        printed = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    assert child.returncode in {0, 1}, command  # 1: doctord has findings
    if any("perf_counter" in word for word in command):
        seconds = float(printed)
    return log.stat().st_size / 1e6 / seconds, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sample", type=Path, help="a log of strace -f -ttt -T -o")
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strace-stats", default=shutil.which("strace-stats"), help="the peer's program")
    return parser.parse_args()


if __name__ == "__main__":
    main()
