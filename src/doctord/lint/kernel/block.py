"""Queues of block devices: scheduler, depth, read-ahead; and rules of udev that set them."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

import polars as pl

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import databases
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.regex import regex

BLOCK: Final = regex(r"block\.(.+)\.(\w+)")
# Schedulers that keep requests back to put them into the order of a turning disk, or into shares.
ORDERING: Final = ("cfq", "bfq", "anticipatory")
LARGE_READ_AHEAD_KB: Final = 4096.0
WAITING: Final = 1.0
NEARLY_FULL: Final = 0.9


@rule("kernel")
def scheduler_orders_for_a_turning_disk(subject: Subject) -> Iterator[Violation]:
    """The scheduler keeps requests back on a device that does not turn.

    Why: cfq and bfq wait for the next request of a process; on flash and arrays that only adds to each request.
    Evidence: scheduler and rotational of the device; requests that wait in the host, where measured.
    Fix: none or mq-deadline (noop or deadline before Linux 5.0).
    Verify: Latency of reads in the host (disk.host_queue_ms) at the same load.
    Source: Linux, Documentation/block/switching-sched.rst, bfq-iosched.rst; Red Hat Performance Tuning Guide.
    """
    for device, held in devices(subject).items():
        if held.get("scheduler") in ORDERING and held.get("rotational") == "0" and databases(subject):
            name = f"block.{device}.scheduler"
            queued = _mean(subject, device, "host_queue_ms")
            yield subject.violation(
                f"{device}: scheduler {held['scheduler']} on a device that does not turn",
                name,
                cost=f"{CANNOT_JUDGE}: time of requests in the host (iostat -x, or doctord record)"
                if queued is None
                else phrase("each request waits {:.2f ms} in the host", queued),
                severity=Severity.WARNING if queued and queued >= WAITING else None,
                changes=[subject.change(name, "none", "now")],
            )


@rule("kernel")
def host_queue_below_device_queue(subject: Subject) -> Iterator[Violation]:
    """The host's queue is shorter than what the device takes at once.

    Why: the device never gets as many requests as it could work on.
    Evidence: nr_requests against queue_depth.
    Fix: nr_requests of at least twice the queue depth.
    Verify: Requests in the device at peak (actv, aqu-sz) and its rate.
    Source: Linux, Documentation/block/queue-sysfs.rst, nr_requests; K. Manoharan, 2008.
    """
    for device, held in devices(subject).items():
        requests, depth = held.get("nr_requests", ""), held.get("queue_depth", "")
        if requests.isdigit() and depth.isdigit() and int(requests) < int(depth):
            name = f"block.{device}.nr_requests"
            yield subject.violation(
                f"{device}: nr_requests {requests} below its queue depth of {depth}",
                name,
                f"block.{device}.queue_depth",
                cost=f"{int(depth) - int(requests)} of {depth} places of the device stay empty",
                severity=Severity.WARNING,
                changes=[subject.change(name, str(2 * int(depth)), "now")],
            )


@rule("kernel")
def queue_depth_caps_device(subject: Subject) -> Iterator[Violation]:
    """Requests wait in the host while the device's queue is full to its cap.

    Why: the array could take more, and is not given more.
    Evidence: queue_depth against the mean queue in the device; the queue in the host.
    Fix: Raise queue_depth by steps (30 a LUN, 256 a target are working values), as far as the array allows its hosts in
        sum.
    Verify: The queue in the host at the same load, and that the time in the device does not grow as much.
    Source: K. Manoharan, 2008; Little's law: requests in the device = rate x time there.
    """
    for device, held in devices(subject).items():
        depth = held.get("queue_depth", "")
        inside, waiting = _mean(subject, device, "device_queue"), _mean(subject, device, "host_queue")
        if not depth.isdigit() or inside is None or waiting is None:
            continue
        if inside >= NEARLY_FULL * int(depth) and waiting >= WAITING:
            name = f"block.{device}.queue_depth"
            figure = phrase("{:.1f} requests in the device, {:.1f} before it", inside, waiting)
            yield subject.violation(
                f"{device}: queue depth {depth} is full",
                name,
                cost=phrase(
                    "{}: {:.0%} of each request's time is spent before the device", figure, waiting / (inside + waiting)
                ),
                severity=Severity.WARNING,
                evidence=[
                    Evidence(
                        "disk", f"device = '{device}'", figure, phrase("depth {}", depth), "the cap, not the array"
                    )
                ],
            )


@rule("kernel")
def read_ahead_off(subject: Subject) -> Iterator[Violation]:
    """Nothing is read ahead on a device under PostgreSQL, which leaves that to the kernel.

    Why: a sequential scan waits for each piece of 8 kB on its own.
    Evidence: read_ahead_kb.
    Fix: 128 at least; 1024 and more where large tables are scanned.
    Verify: Time of a sequential scan that is not in memory.
    Source: Linux, Documentation/block/queue-sysfs.rst; G. Smith, PostgreSQL 9.0 High Performance, 2010.
    """
    if not any(server.component == "postgresql" for server in databases(subject)):
        return
    for device, held in devices(subject).items():
        if held.get("read_ahead_kb") == "0":
            name = f"block.{device}.read_ahead_kb"
            yield subject.violation(
                f"{device}: read-ahead is off",
                name,
                cost="a sequential scan makes one request for every 8 kB, each waited for",
                severity=Severity.WARNING,
                changes=[subject.change(name, "128", "now")],
            )


@rule("kernel")
def read_ahead_large(subject: Subject) -> Iterator[Violation]:
    """More is read ahead than anybody asked for.

    Why: what a random reader never asked for takes the disk's time and the page cache's room.
    Evidence: read_ahead_kb; the mean size of a read, where measured.
    Fix: 128 to 1024 for mixed loads.
    Verify: Bytes of a read (disk.read_bytes_per_s / reads_per_s) and its time.
    Source: Linux, Documentation/block/queue-sysfs.rst, read_ahead_kb.
    """
    for device, held in devices(subject).items():
        told = held.get("read_ahead_kb", "")
        if not told.isdigit() or int(told) <= LARGE_READ_AHEAD_KB or not databases(subject):
            continue
        reads, size = _mean(subject, device, "reads_per_s"), _mean(subject, device, "read_bytes_per_s")
        each = size / reads if reads and size is not None else None
        name = f"block.{device}.read_ahead_kb"
        yield subject.violation(
            phrase("{}: {:bytes} are read ahead", device, int(told) * 1024),
            name,
            cost=f"{CANNOT_JUDGE}: bytes of a read (doctord record)"
            if each is None
            else phrase("a read brings {:bytes} on average", each),
            changes=[subject.change(name, "1024", "now")],
        )


@rule("kernel")
def merging_off(subject: Subject) -> Iterator[Violation]:
    """Neighbouring requests are not put together.

    Why: a scan or a checkpoint makes a request of each piece.
    Evidence: nomerges.
    Fix: Set nomerges = 0, or 1 for the simple kind.
    Verify: Merged requests (iostat -x rrqm/s, wrqm/s) and the size of requests.
    Source: Linux, Documentation/block/queue-sysfs.rst, nomerges.
    """
    for device, held in devices(subject).items():
        if held.get("nomerges") == "2" and held.get("rotational") == "1":
            name = f"block.{device}.nomerges"
            yield subject.violation(
                f"{device}: requests are never merged, on a disk that turns",
                name,
                cost="a request of its own for every piece: a turn of the disk where one would do",
                severity=Severity.WARNING,
                changes=[subject.change(name, "0", "now")],
            )


@rule("udev")
def rule_not_in_force(subject: Subject) -> Iterator[Violation]:
    """A rule of udev sets a queue's attribute, and the device has another.

    Why: the rule does not match, another one follows, or the device was there before the rule.
    Evidence: the rule's value, and that of the device.
    Fix: udevadm control --reload and udevadm trigger; udevadm test shows which rules match.
    Verify: cat /sys/block/DEVICE/queue/...
    Source: udev(7), udevadm(8).
    """
    kernel = subject.other("kernel")
    for wish in subject.rows if kernel else ():
        pattern, _, attribute = wish.name.rpartition(".")
        for device, held in devices(kernel).items() if kernel else ():
            is_value = held.get(attribute)
            if is_value is not None and fnmatchcase(device, pattern) and is_value != wish.value:
                yield subject.violation(
                    f"{device}: {attribute} is {is_value}, a rule wants {wish.value}",
                    settings=[wish],
                    cost="what the rule says is not in force, and may be after the next boot",
                    severity=Severity.WARNING,
                )


def devices(subject: Subject) -> dict[str, dict[str, str]]:
    """The settings of each block device, by the attribute's name."""
    found: dict[str, dict[str, str]] = {}
    for setting in subject.rows:
        if match := BLOCK.fullmatch(setting.name):
            found.setdefault(match[1], {})[match[2]] = setting.value
    return found


def _mean(subject: Subject, device: str, column: str) -> float | None:
    """Mean of a column of `disk` over what was measured of a device; null where nothing was."""
    values = subject.case.dataset.frame("disk").filter(pl.col("device") == device)[column].drop_nulls()
    return float(values.mean()) if values.len() else None  # type: ignore[arg-type] # a mean of floats is one
