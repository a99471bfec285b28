"""The kernel's log, live: from a pipe that hands out messages as /dev/kmsg does, and from this host's own."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from doctord.collect.linux.kernel_log import KernelLog

Say = Callable[..., None]


@pytest.fixture
def kmsg(tmp_path: Path) -> Path:
    path = tmp_path / "kmsg"
    os.mkfifo(path)
    return path


def told(log: KernelLog) -> list[dict[str, Any]]:
    return [row for batch in log.sample() if batch.table == "event" for row in pa.record_batch(batch).to_pylist()]


@pytest.fixture
def say(kmsg: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Say]:
    """Writes a message; of the device each read gives one, of a pipe all that is there: so reads are cut at a NUL."""
    keep = os.open(kmsg, os.O_RDWR | os.O_NONBLOCK)
    left = bytearray()
    read = os.read

    def one(file: int, most: int) -> bytes:
        if not left:
            left.extend(read(file, 1 << 16))
        record, _, rest = bytes(left).partition(b"\0")
        left[:] = rest
        return record[:most]

    def write(text: str, *, priority: int = 3, age_s: float = 0.0) -> None:
        stamp_us = round((time.monotonic() - age_s) * 1e6)
        os.write(keep, f"{priority},77,{stamp_us},-;{text}\n SUBSYSTEM=block\n\0".encode())

    monkeypatch.setattr("doctord.collect.linux.kernel_log.os.read", one)
    yield write
    os.close(keep)


def test_trouble_becomes_events_at_their_time(kmsg: Path, say: Say) -> None:
    say("Linux version 6.18", priority=5)
    say("I/O error, dev sdb, sector 12 op 0x0:(READ)", age_s=60.0)
    say("sd 2:0:0:0: [sdc] tag#3 timing out command, waited 180s")
    with closing(KernelLog(path=kmsg)) as log:
        first, second = told(log)
        assert (first["kind"], first["subject"]) == ("I/O error", "sdb")
        assert (second["kind"], second["subject"]) == ("device reset", "sdc")
        assert (second["ts"] - first["ts"]).total_seconds() == pytest.approx(60.0, abs=0.5)
        assert told(log) == []
        say("INFO: task postgres:4711 blocked for more than 120 seconds.")
        (third,) = told(log)
        assert (third["kind"], third["subject"]) == ("hung task", "postgres")


def test_what_is_long_ago_and_what_others_write_is_left_out(kmsg: Path, say: Say) -> None:
    say("I/O error, dev sdb, sector 12", age_s=700.0)
    say("I/O error, dev sdb, sector 12", priority=(1 << 3) + 3)
    say("no message at all")
    kmsg_again = os.open(kmsg, os.O_WRONLY)
    os.write(kmsg_again, b"garbage\0")
    os.close(kmsg_again)
    with closing(KernelLog(path=kmsg)) as log:
        assert told(log) == []


def test_a_kill_is_a_groups_where_the_messages_before_say_so(kmsg: Path, say: Say) -> None:
    say("postgres invoked oom-killer: gfp_mask=0xcc0")
    say("Memory cgroup out of memory: Killed process 12 (postgres) total-vm:9kB, anon-rss:2097152kB")
    with closing(KernelLog(path=kmsg)) as log:
        (event,) = told(log)
    assert event["kind"] == "oom kill in control group"
    assert event["text"] == "process 12 (postgres), 2 GiB of its own memory"


def test_a_log_that_may_not_be_read_is_told_once(tmp_path: Path) -> None:
    with closing(KernelLog(path=tmp_path / "none")) as log:
        (event,) = told(log)
        assert (event["kind"], event["subject"]) == ("not measured", "the kernel's log")
        assert "--with kmsg" in event["hint"]
        assert told(log) == []


@pytest.mark.skipif(not os.access("/dev/kmsg", os.R_OK), reason="/dev/kmsg may not be read")
def test_this_hosts_own_log_can_be_read_again_and_again() -> None:
    with closing(KernelLog()) as log:
        for _ in range(2):
            told(log)
        assert not log._refused
