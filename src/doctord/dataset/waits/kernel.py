"""Places in the Linux kernel where a session of a database may stand though its server names no wait: `kernel.csv`.

The place is the function in which a process sleeps (/proc/PID/wchan, proc(5)); `%` stands for any text, the longest
name that fits counts. Written from the kernel's source, whose file is named beside each. What ends with `: stderr` is
a write to the server's own log.
"""

import csv
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from doctord.dataset.waits.postgres import Wait

TO_THE_LOG: Final = ": stderr"
# Where a sleep of the server's stands in the kernel: in select(2) or in nanosleep(2), by version.
SLEEPS: Final = ("poll_schedule_timeout", "do_select", "hrtimer_nanosleep", "do_nanosleep", "common_nsleep")
OFF_CPU: Final = "off the CPU"
"""What is left of sessions that wait for nothing that the server names, and were not on a CPU either."""


class Place(NamedTuple):
    """One line: what it is to stand there, of which class and kind of wait, and what that usually means."""

    function: str
    wait_class: str
    wait_kind: str
    meaning: str
    usually: str
    collect: str
    source: str


@cache
def places() -> tuple[Place, ...]:
    """All lines, the longest name first."""
    with Path(__file__).with_name("kernel.csv").open(encoding="utf-8", newline="") as file:
        found = [Place(**line) for line in csv.DictReader(file)]
    return tuple(sorted(found, key=lambda place: -len(place.function)))


@lru_cache(maxsize=256)
def place(event: str) -> Place | None:
    """The line that a function fits, as `wait_at` calls it; null where none does.

    >>> place("anon_pipe_write: stderr").wait_kind, place("jbd2_log_wait_commit").source, place("SyncRep")
    ('server log', 'fs/jbd2/journal.c', None)
    """
    return next((one for one in places() if _pattern(one.function).fullmatch(event)), None)


def wait_at(function: str, *, to_the_log: bool = False) -> Wait:
    """What a session waits for that sleeps in a function of the kernel, on behalf of a write to the log or not.

    >>> tuple(wait_at("anon_pipe_write", to_the_log=True)), tuple(wait_at("some_driver_wait.isra.0"))
    (('Other', 'anon_pipe_write: stderr', 'server log'), ('Other', 'some_driver_wait', 'other'))
    """
    event = function.partition(".")[0] + (TO_THE_LOG if to_the_log else "")
    known = place(event)
    return Wait(known.wait_class, event, known.wait_kind) if known else Wait("Other", event, "other")


@cache
def _pattern(function: str) -> re.Pattern[str]:
    return re.compile(re.escape(function).replace("%", ".*"))
