"""Classes and kinds of PostgreSQL's wait events, by type and event: the mapping is `dataset/waits/postgresql.csv`.

Version 17 spells some events otherwise (`BuffileRead`, `WalSync`): the older spelling, which books and people use, is
kept for all versions. An event that version 17 or a later one brought has the spelling that it came with.
"""

from functools import cache
from typing import Final, NamedTuple

from doctord.dataset.waits import events
from doctord.dataset.waits.events import WaitEvent

FOREGROUND: Final = frozenset({"client backend", "parallel worker"})
"""Kinds of process that work for a client: their I/O is User I/O, their wait for WAL a Commit."""


class Wait(NamedTuple):
    """What a process waits for, as `session` and `wait` hold it."""

    wait_class: str
    event: str
    wait_kind: str | None


CPU: Final = Wait("CPU", "CPU", "cpu")


@cache
def wait_events() -> dict[tuple[str, str], WaitEvent]:
    """The mapping, by type and lower-case event; event `*` stands for all of the type that have no line."""
    return {(line.wait_event_type, line.event.lower()): line for line in events.wait_events("postgresql")}


def classify(wait_type: str | None, event: str | None, kind: str) -> Wait:
    """Class, name and kind of a wait.

    Args:
        wait_type: `wait_event_type` of pg_stat_activity; null for a process that runs or wants to.
        event: `wait_event`.
        kind: `backend_type`.

    >>> tuple(classify("IO", "WALSync", "client backend")), tuple(classify("IO", "WalSync", "walwriter"))
    (('Commit', 'WALSync', 'log sync'), ('System I/O', 'WALSync', 'log write'))
    """
    if wait_type is None or event is None:
        return CPU
    known = wait_events().get((wait_type, event.lower()))
    found = known or wait_events().get((wait_type, "*"))
    if found is None:
        return Wait("Other", event, None)
    name = known.event if known else event
    if kind in FOREGROUND:
        return Wait(found.wait_class, name, found.wait_kind)
    return Wait(found.background_class or found.wait_class, name, found.background_kind or found.wait_kind)
