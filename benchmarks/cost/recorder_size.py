"""Memory, open files and disk of the recorder over six hours, run faster: two tables and a picture.

    .venv/bin/python benchmarks/cost/recorder_size.py --out /var/tmp/recorder-size

Records this host and a private PostgreSQL under pgbench, with `hastened.py`: as many samples, syncs, statements and
seals as in the hours asked for, each seal with as many rows. What it starts for the sums is measured apart. At 40 times
the speed six hours take nine minutes.

Resident (RSS) counts every page that the recorder has, file pages of libraries among them, which other processes may
have too; PSS shares those out among all that have them; its own (anonymous) are in no file and nobody else's. The
target is for RSS, the largest of the three.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import paired
from PIL import Image, ImageDraw

from doctord.app.record import OPTIONS, SMALL
from doctord.lab.server import PrivateServer

EVERY_S = 0.1
STEADY_MIB, PEAK_MIB, CHILD_MIB = 40, 64, 200
WIDTH, HEIGHT, LEFT, TOP = 900, 300, 60, 30


@dataclass(frozen=True)
class Look:
    """One look at the recorder: hours gone in its time, MiB resident, files open, MiB of the sums' process.

    `pss_mib` and `own_mib` are of what is resident what is shared out among processes, and what is in no file.
    """

    hours: float
    mib: float
    pss_mib: float
    own_mib: float
    files: int
    sums_mib: float


def main() -> None:
    """Record, print a line for each hour, and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hours", type=float, default=6.0)
    parser.add_argument("--speed", type=float, default=40.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--idle", type=int, default=0, help="idle connections beside them")
    parser.add_argument("--out", type=Path, default=Path("recorder-size"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with paired.private_server() as server, load(server, arguments.clients, arguments.idle):
        looks, peak = recorded(server, arguments.out / "lake", arguments.hours, arguments.speed)
    show(looks, peak, arguments.hours)
    show_disk(arguments.out / "lake")
    draw(looks, arguments.hours, arguments.out / "recorder-size.png")


@contextmanager
def load(server: PrivateServer, clients: int, idle: int) -> Iterator[None]:
    """Pgbench at 200 transactions a second, and connections that do nothing."""
    command = [server.binaries / "pgbench", "--builtin=tpcb-like", "--no-vacuum", "--rate=200", "--time=86400"]
    with contextlib.ExitStack() as held:
        for _ in range(idle):
            held.enter_context(server.connect())
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([*command, f"--client={clients}", server.dsn], **quiet) as bench:
            try:
                yield
            finally:
                bench.kill()


def recorded(server: PrivateServer, lake: Path, hours: float, speed: float) -> tuple[list[Look], float]:
    """Looks at a recorder that runs for so many of its hours, and the most MiB that it ever had."""
    options = {
        "lake": str(lake), "every_s": 1 / speed, "for_s": None, "sync_s": 5 / speed, "keep_s": 30 * 86400.0,
        "max_bytes": 10**10, "dsns": [server.dsn], "databases": True, "probe": False, "quiet": True,
        "rotate_s": 3600 / speed, "roll_up": [sys.executable, "-m", "doctord.app.roll_up", str(lake), "7948800"],
    }  # fmt: skip
    environment = os.environ | SMALL | {OPTIONS: json.dumps(options)}
    command = [sys.executable, Path(__file__).with_name("hastened.py"), str(speed)]
    looks = list[Look]()
    with subprocess.Popen(command, env=environment) as recorder:
        began, pid = time.monotonic(), recorder.pid
        while (gone := (time.monotonic() - began) * speed / 3600) < hours:
            time.sleep(EVERY_S)
            assert recorder.poll() is None, "the recorder ended early"
            sums = sum(mib(child, "status", "VmRSS") for child in children(pid))
            sizes = [mib(pid, "smaps_rollup", name) for name in ("Rss", "Pss", "Anonymous")]
            looks.append(Look(gone, *sizes, len(os.listdir(f"/proc/{pid}/fd")), sums))  # noqa: PTH208 - counted often
        peak = mib(pid, "status", "VmHWM")
        recorder.send_signal(signal.SIGTERM)  # and wait: it seals what is open
    return looks, peak


def mib(pid: int, file: str, name: str) -> float:
    """A size out of a file of /proc/PID; 0 when the process has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), 0.0)
    return 0.0


def children(pid: int) -> list[int]:
    """Processes that a process started and that are alive."""
    found = list[int]()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
            found += map(int, (thread / "children").read_text().split())
    return found


def show(looks: list[Look], peak: float, hours: float) -> None:
    """Print the table."""
    print("| hour | resident MiB, median | most | PSS | its own | files open, most | sums, most MiB |")
    print("|---|---|---|---|---|---|---|")
    for hour in range(int(-(-hours // 1))):
        part = [look for look in looks if hour <= look.hours < hour + 1]
        if not part:
            continue
        resident, pss, own = (median(getattr(look, name) for look in part) for name in ("mib", "pss_mib", "own_mib"))
        most, sums, files = (max(getattr(look, name) for look in part) for name in ("mib", "sums_mib", "files"))
        print(f"| {hour + 1} | {resident:.1f} | {most:.1f} | {pss:.1f} | {own:.1f} | {files} | {sums:.0f} |")
    print(f"\nmost ever {peak:.1f} MiB; targets: {STEADY_MIB} at work, {PEAK_MIB} at sealing, {CHILD_MIB} for the sums")


def show_disk(lake: Path) -> None:
    """Print what a second takes on disk, by table, over the time that the samples of the host cover."""
    query = "SELECT date_diff('microsecond', min(ts), max(ts)) / 1e6 AS seconds FROM memory"
    command = [Path(sys.executable).with_name("doctord"), "sql", "--csv", "--lake", lake, query]
    seconds = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])
    files = Counter[str]()
    for file in lake.glob("sealed/*/*/*.parquet"):
        files[file.parts[-3]] += file.stat().st_size
    print(f"\n| table | bytes a second, of {seconds:.0f} s |\n|---|---|")
    for table, size in [("all", files.total()), *files.most_common()]:
        print(f"| {table} | {size / seconds:,.0f} |")


def draw(looks: list[Look], hours: float, path: Path) -> None:
    """Two curves over the hours: memory, with its two limits, and open files."""
    most_files = max(look.files for look in looks)
    panels = (
        ("MiB resident; limits: at work, at sealing", [look.mib for look in looks], 80.0, (STEADY_MIB, PEAK_MIB)),
        ("files open", [float(look.files) for look in looks], most_files * 1.2, ()),
    )
    image = Image.new("RGB", (WIDTH, HEIGHT * len(panels)), "white")
    pen = ImageDraw.Draw(image)
    for number, (title, values, top, limits) in enumerate(panels):
        base = HEIGHT * (number + 1) - TOP

        def place(hour: float, value: float, base: int = base, top: float = top) -> tuple[float, float]:
            return LEFT + hour / hours * (WIDTH - 2 * LEFT), base - value / top * (HEIGHT - 2 * TOP)

        pen.text((LEFT, base - HEIGHT + TOP + 8), title, fill="black")
        for mark in (0.0, top / 2, top, *limits):
            colour = "#cc3311" if mark in limits else "#dddddd"
            pen.line([place(0, mark), place(hours, mark)], fill=colour)
            pen.text((8, place(0, mark)[1] - 6), f"{mark:.0f}", fill="black")
        pen.line([place(look.hours, value) for look, value in zip(looks, values, strict=True)], fill="#0077bb", width=1)
        for hour in range(int(hours) + 1):
            pen.text((place(hour, 0)[0] - 4, base + 6), f"{hour} h", fill="black")
    image.save(path)


if __name__ == "__main__":
    main()
