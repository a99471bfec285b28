"""What one second of a host costs on disk, and what recording it costs in memory, beside atop and sadc in one run.

    .venv/bin/python benchmarks/lake/lake.py --for 300

Starts sleeping processes until about 340 are alive, then records them all at 1 s with `doctord record`, `atop -w` and
`sadc -S XALL` at the same time. Memory is the highest resident size, sealing at the end included.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SADC = Path("/usr/lib/sysstat/sadc")
DOCTORD = Path(sys.executable).with_name("doctord")


def main() -> None:
    """Record, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--for", dest="seconds", type=int, default=300, help="seconds to record")
    parser.add_argument("--processes", type=int, default=340, help="processes alive")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sleepers(arguments.processes):
        alive = processes()
        sizes, peak = record(Path(folder), arguments.seconds)
        samples = samples_in(Path(folder) / "lake")
    show(sizes, samples, alive, peak, arguments.seconds)


def record(folder: Path, seconds: int) -> tuple[dict[str, int], int]:
    """Bytes that each recorder left, and the highest resident KiB of ours."""
    lake, atop, sadc = folder / "lake", folder / "atop", folder / "sadc"
    commands = {
        "ours": [DOCTORD, "record", "--lake", lake, "--no-databases", "--quiet", "--for", f"{seconds}s"],
        "atop": ["atop", "-w", atop, "1", str(seconds)],
        "sadc": [SADC, "-S", "XALL", "1", str(seconds + 1), sadc],
    }
    running = {name: subprocess.Popen(command) for name, command in commands.items()}
    peak = 0
    while running["ours"].poll() is None:
        peak = max(peak, high_water_kib(running["ours"].pid))
        time.sleep(0.05)
    for name, process in running.items():
        if process.wait(timeout=60):
            raise SystemExit(f"{name} ended with status {process.returncode}")
    sealed = sum(file.stat().st_size for file in lake.glob("sealed/*/*/*.parquet"))
    return {"doctord": sealed, "atop": atop.stat().st_size, "sadc": sadc.stat().st_size}, peak


def samples_in(path: Path) -> int:
    """Samples of the host in a lake."""
    query = "SELECT count(DISTINCT ts) AS samples FROM memory"
    command = [DOCTORD, "sql", "--csv", "--lake", path, query]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])


def show(sizes: dict[str, int], samples: int, alive: int, peak_kib: int, seconds: int) -> None:
    """Print one row per recorder."""
    print(f"{alive} processes, {samples} samples at 1 s; resident at most {peak_kib / 1024:.1f} MiB\n")
    print("| recorder | bytes per sample | times ours |\n|---|---|---|")
    ours = sizes["doctord"] / samples
    for name, size in sizes.items():
        each = size / (samples if name == "doctord" else seconds)
        print(f"| {name} | {each:,.0f} | {each / ours:.1f} |")


def processes() -> int:
    """Processes alive now."""
    return sum(entry.name.isdigit() for entry in Path("/proc").iterdir())


def high_water_kib(pid: int) -> int:
    """Highest resident size of a process so far, KiB; 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


@contextmanager
def sleepers(wanted: int) -> Iterator[None]:
    """So many processes alive, by sleeping ones."""
    started = [subprocess.Popen(["sleep", "infinity"]) for _ in range(max(0, wanted - processes() - 3))]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("not root: what others' processes read and write stays not_measured, which makes the lake smaller\n")
    main()
