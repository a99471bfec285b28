"""Record into a lake: collectors, schedule and lake in a process that holds nothing else.

`doctord record` reads its options and then becomes this program, in the same process. The parser of the command line
would take half the memory that a recorder, which runs for months beside a database, may have.
"""

import json
import logging
import os
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, NoReturn

from doctord._native import Batch, give_back_memory
from doctord.app.unused_modules import keep_out
from doctord.collect.core import schedule
from doctord.collect.host import Host
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError
from doctord.lake.maintenance import Maintenance
from doctord.lake.place import LakeError
from doctord.lake.retention import Retention
from doctord.lake.writer import LakeWriter
from doctord.printable import log_to_standard_error, note

log = logging.getLogger("doctord.record")

# The environment, unlike the arguments of a process, is read by its owner alone: connection strings may hold passwords.
OPTIONS: Final = "DOCTORD_RECORDER"

# glibc keeps what is freed, in an arena per thread. Few arenas, and large blocks mapped by themselves, give it back.
SMALL: Final = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "131072"}


@dataclass(frozen=True, slots=True)
class Recording:
    """What to record, where to, and how.

    `roll_up`: the command that sums up what was sealed; `rotate_s`: how often that happens.
    """

    lake: str
    every_s: float
    for_s: float | None
    sync_s: float
    keep_s: float
    max_bytes: int
    dsns: list[str]
    databases: bool
    probe: bool
    quiet: bool
    roll_up: list[str]
    rotate_s: float = 3600.0


def become(recording: Recording) -> NoReturn:
    """Turn this process into the recorder."""
    environment = os.environ | SMALL | {OPTIONS: json.dumps(asdict(recording))}
    os.execve(sys.executable, [sys.executable, "-m", __name__, recording.lake], environment)  # noqa: S606 - none needed


def record(recording: Recording, stop: threading.Event) -> None:
    """Record until told to stop, or until the time is up.

    Raises:
        UserError: The lake cannot be written, also at the end, or a connection string is none.
    """
    host = Host(databases=recording.databases, dsns=recording.dsns, period_s=recording.every_s, probes=recording.probe)
    collectors = host.collectors()
    maintenance = Maintenance(Retention(timedelta(seconds=recording.keep_s), recording.max_bytes), recording.roll_up)
    lake = Path(recording.lake)
    with LakeWriter(lake, sync_s=recording.sync_s, rotate_s=recording.rotate_s, maintenance=maintenance) as writer:
        names = ", ".join(collector.name for collector in collectors)
        log.info("recording %s into %s; Ctrl-C stops", names, recording.lake)
        writer.append(_beginning(names))

        def tick(_elapsed_s: float) -> None:
            for batch in maintenance.told():
                writer.append(batch)
            give_back_memory()

        try:
            schedule.run(
                collectors,
                writer.append,
                stop=stop,
                seconds=recording.for_s,
                on_tick=tick,
                newcomers=host.newcomers,
            )
        finally:
            maintenance.stop()
    if writer.is_failing:
        raise LakeError(
            f"{lake}: what was recorded last could not be written",
            "make room, or run this as a user who may write there; what was recorded before is kept",
        )
    log.info("recorded; look at it with: doctord sql --lake %s 'show tables'", recording.lake)


def _beginning(names: str) -> Batch:
    about = {"ts": now_us(), "host": os.uname().nodename, "kind": "recording", "subject": "lake"}
    return rows("event", [about | {"text": f"a recorder of {names} began"}])


def main() -> None:
    """Read the options that `become` left, and record. Exit status 2 when that is refused."""
    recording = Recording(**json.loads(os.environ.pop(OPTIONS)))
    keep_out()
    level = logging.WARNING if recording.quiet else logging.INFO
    log_to_standard_error("%(asctime)s doctord: %(message)s", level)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        record(recording, stop)
    except UserError as refusal:
        note(f"{refusal}\nhint: {refusal.hint}")
        sys.exit(2)


if __name__ == "__main__":
    main()
