"""What a sample of host and processes costs, beside the tools of the field on the same machine in the same run.

    .venv/bin/python benchmarks/cost/sampler.py

Starts sleeping processes until about 340 are alive, then lets each tool take samples one second apart. CPU time (user +
system) is what the scheduler counted for the tool between the third sample and the last, by the number of samples, so
that starting up does not count. Medians of three rounds, the tools taking turns.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSES = 340
WARM_UP_S = 3.5  # half a period off, so that no sample is cut in two
OURS = """
import resource, sys, time
from doctord.collect.linux import LinuxCollector
collector = LinuxCollector()
for _ in range(int(sys.argv[1])):
    collector.sample()
    time.sleep(1)
"""


@dataclass(frozen=True)
class Tool:
    """A sampler: its name, the program it needs, and its command for so many samples."""

    name: str
    program: str
    command: Callable[[int, Path], Sequence[str]]


TOOLS = (
    Tool("doctord", sys.executable, lambda count, _: [sys.executable, "-c", OURS, str(count)]),
    Tool("atop -w", "atop", lambda count, folder: ["atop", "-w", str(folder / "atop"), "1", str(count)]),
    Tool("pidstat -urdw", "pidstat", lambda count, _: ["pidstat", "-urdw", "-p", "ALL", "1", str(count)]),
    Tool(
        "sadc -S XALL (no processes)",
        "/usr/lib/sysstat/sadc",
        lambda count, folder: ["/usr/lib/sysstat/sadc", "-S", "XALL", "1", str(count), str(folder / "sadc")],
    ),
)


def per_sample(tool: Tool, samples: int) -> tuple[float, float]:
    """Milliseconds of CPU per sample, and the largest resident memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(tool.command(samples + 10, Path(folder)), stdout=subprocess.DEVNULL)
        try:
            time.sleep(WARM_UP_S)
            before = cpu_ns(process.pid)
            time.sleep(samples)
            used_ns = cpu_ns(process.pid) - before
            return used_ns / samples / 1e6, resident_mib(process.pid)
        finally:
            process.kill()
            process.wait()


def cpu_ns(pid: int) -> int:
    """CPU time of a process with one thread; /proc/PID/stat has it in ticks of 10 ms only."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def resident_mib(pid: int) -> float:
    """The most memory that a process had resident."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def alive() -> int:
    """Number of processes now."""
    return sum(entry.name.isdigit() for entry in Path("/proc").iterdir())


def crowd() -> list[subprocess.Popen[bytes]]:
    """Sleepers that bring the machine to the wanted number of processes."""
    return [subprocess.Popen(["sleep", "3600"]) for _ in range(max(0, PROCESSES - alive()))]


def run(tools: Sequence[Tool], rounds: int, samples: int) -> None:
    """Measure every tool in turn and print the table."""
    figures: dict[str, list[tuple[float, float]]] = {tool.name: [] for tool in tools}
    for number in range(rounds):
        for tool in tools:
            print(f"round {number + 1} of {rounds}: {tool.name}", file=sys.stderr)
            figures[tool.name].append(per_sample(tool, samples))
    ours = statistics.median(cpu for cpu, _ in figures["doctord"])
    print(f"{alive()} processes, {samples} samples, median of {rounds} rounds, {time.strftime('%Y-%m-%d')}\n")
    print(f"{'':30}{'CPU ms per sample':>18}{'times ours':>12}{'resident MiB':>14}")
    for name, rows in figures.items():
        cpu = statistics.median(cpu for cpu, _ in rows)
        resident = max(resident for _, resident in rows)
        print(f"{name:30}{cpu:18.2f}{cpu / ours:12.1f}{resident:14.1f}")


def main() -> None:
    """Read the options, start the crowd, measure, end the crowd."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=15)
    options = parser.parse_args()
    present = [tool for tool in TOOLS if shutil.which(tool.program)]
    for tool in TOOLS:
        if tool not in present:
            print(
                f"{tool.name}: {tool.program} is not installed, left out (apt-get install atop sysstat)",
                file=sys.stderr,
            )
    sleepers = crowd()
    try:
        run(present, options.rounds, options.samples)
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


if __name__ == "__main__":
    main()
