"""How well `doctord stress device` finds the capacity of targets whose capacity is known.

Loop devices whose requests the kernel throttles (blkio, io.max) to 200, 400 and 800 a second: one request outstanding
fills them. Devices of nbdkit's that take 10 and 20 ms for a request, one at a time: 100 and 50 a second. And both, a
device of 10 ms for many at a time, throttled to 200 and 300 a second: 2 and 3 outstanding fill it (Little's law). Then
the pitfall: the same file through the page cache, and past it. Run as root:

    .venv/bin/python benchmarks/stress_targets.py capacity --out ROWS.jsonl [--targets 0,1,2] [--runs 1]
    .venv/bin/python benchmarks/stress_targets.py pitfall --out ROWS.jsonl [--runs 10]
    .venv/bin/python benchmarks/stress_targets.py table --out ROWS.jsonl
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from doctord.lab.host.cgroup import control_group
from doctord.lab.host.folder import private_folder
from doctord.lab.host.loop_device import loop_device
from doctord.lab.host.processes import running

SIZE_BYTES = 256 << 20
THROTTLED = (200, 400, 800)  # requests a second
DELAYED_MS = (10, 20)
BOTH = ((10, 200), (10, 300))  # a delay, and requests a second
WITHIN = 0.10
DOCTORD = Path(sys.executable).with_name("doctord")


class Known(NamedTuple):
    """A target: its name, requests a second that it does at most, and how many outstanding fill it."""

    name: str
    per_s: float
    depth: float


class Target(NamedTuple):
    """What is known of it, where it is, and what to put before a command that loads it."""

    known: Known
    place: Path
    entrance: list[str]


@contextmanager
def throttled(limit: int) -> Iterator[Target]:
    """A loop device whose requests are held to so many a second."""
    with private_folder() as folder, loop_device(folder, SIZE_BYTES) as device:
        place = Path("/dev", device.name)
        with held_to(limit, place) as entrance:
            yield Target(Known(f"blkio, {limit} IOPS", limit, 1.0), place, entrance)


@contextmanager
def delayed(delay_ms: int) -> Iterator[Target]:
    """A device that takes so long for a request, one at a time."""
    with served(delay_ms, threads=1, connections=1) as place:
        yield Target(Known(f"nbdkit, {delay_ms} ms", 1000 / delay_ms, 1.0), place, [])


@contextmanager
def both(delay_ms: int, limit: int) -> Iterator[Target]:
    """A device that takes so long for a request, and is held to so many a second."""
    with served(delay_ms, threads=16, connections=4) as place, held_to(limit, place) as entrance:
        name = f"nbdkit, {delay_ms} ms, and blkio, {limit} IOPS"
        yield Target(Known(name, limit, limit * delay_ms / 1000), place, entrance)


TARGETS = (
    *(partial(throttled, limit) for limit in THROTTLED),
    *(partial(delayed, delay_ms) for delay_ms in DELAYED_MS),
    *(partial(both, *of) for of in BOTH),
)


@contextmanager
def held_to(limit: int, device: Path) -> Iterator[list[str]]:
    """What to put before a command so that its requests to a device are held to so many a second."""
    number = Path("/sys/block", device.name, "dev").read_text(encoding="ascii").strip()
    with control_group("io") as group:
        group.limit_io(number, reads_per_s=limit, writes_per_s=limit)
        yield group.entrance


@contextmanager
def served(delay_ms: int, *, threads: int, connections: int) -> Iterator[Path]:
    """A loop device in memory that takes so long for each request."""
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        socket, mount, log = folder / "nbd", folder / "served", folder / "log"
        mount.mkdir()
        serve = ["nbdkit", "--foreground", "--unix", socket, f"--threads={threads}", "memory", str(SIZE_BYTES)]
        stack.enter_context(running([*serve, "--filter=delay", f"rdelay={delay_ms}ms"], log))
        wait_for(socket)
        stack.enter_context(running(["nbdfuse", "-C", str(connections), mount / "disk", "--unix", socket], log))
        stack.callback(subprocess.run, ["umount", "--lazy", mount], check=True)
        wait_for(mount / "disk")
        attach = ["losetup", "--find", "--show", "--direct-io=on", mount / "disk"]
        device = subprocess.run(attach, capture_output=True, text=True, check=True).stdout.strip()
        stack.callback(subprocess.run, ["losetup", "--detach", device], check=True)
        yield Path(device)


def wait_for(path: Path) -> None:
    """Until it is there."""
    for _ in range(100):
        if path.exists():
            return
        time.sleep(0.1)
    raise SystemExit(f"{path} did not come")


def told(entrance: list[str], place: Path, *options: str) -> dict[str, Any]:
    """What the command says of a place, whose depths alone are varied."""
    command = [*entrance, str(DOCTORD), "stress", "device", str(place), "--json", "--vary", "", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1}:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout))


def capacities(targets: list[int], runs: int, seed: int) -> Iterator[dict[str, Any]]:
    """Steps of ten seconds at depths of 1 to 8."""
    for run in range(runs):
        for target in targets:
            with TARGETS[target]() as (known, place, entrance):
                found = told(entrance, place, "--depth", "8", "--for", "10s", "--seed", str(seed + run))
            depth = found["depth"]
            about = {"target": known.name, "per_s": known.per_s, "depth": known.depth}
            yield about | {"found": depth["per_s"], "knee": depth["knee"], "pitfall": found["pitfall"] is not None}


def pitfalls(runs: int, seed: int) -> Iterator[dict[str, Any]]:
    """A file of our own, through the page cache and past it."""
    for run in range(runs):
        for way, option in (("buffered", ["--buffered"]), ("direct", [])):
            options = ["--depth", "2", "--for", "5s", "--size", "128MiB", "--seed", str(seed + run), *option]
            found = told([], Path("/var/tmp"), *options)  # noqa: S108 - a file without a name
            yield {"target": f"page cache, {way}", "pitfall": found["pitfall"] is not None, "signs": found["pitfall"]}


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The rows for a page of the documentation."""
    yield "| target | known: IOPS, depth | found: IOPS (95 %) | knee in depth (95 %) | IOPS near | knee near |"
    yield "|---|---|---|---|---|---|"
    for row in (row for row in rows if "found" in row):
        ends = (f"{one['value']:.4g} ({one['low']:.4g} to {one['high']:.4g})" for one in (row["found"], row["knee"]))
        near = (abs(row[of]["value"] / row[to] - 1) <= WITHIN for of, to in (("found", "per_s"), ("knee", "depth")))
        cells = (row["target"], f"{row['per_s']:g}, {row['depth']:g}", *ends, *("yes" if one else "no" for one in near))
        yield f"| {' | '.join(cells)} |"
    for way in ("buffered", "direct"):
        named = [row["pitfall"] for row in rows if row["target"] == f"page cache, {way}"]
        yield f"\nThe pitfall was named in {sum(named)} of {len(named)} {way} runs."


def main() -> None:
    """Run, and add rows; or print the table of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("capacity", "pitfall", "table"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",".join(map(str, range(len(TARGETS)))))
    asked = parser.parse_args()
    if asked.what == "table":
        print("\n".join(table([json.loads(line) for line in asked.out.read_text(encoding="utf-8").splitlines()])))
        return
    if asked.what == "pitfall":
        rows = pitfalls(asked.runs, asked.seed)
    else:
        rows = capacities([int(one) for one in asked.targets.split(",")], asked.runs, asked.seed)
    for row in rows:
        with asked.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


if __name__ == "__main__":
    main()
