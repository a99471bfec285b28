"""Classes of wait events: the mapping itself is `waits.csv`, the one place that says which event means what.

Version 17 spells some events otherwise (`BuffileRead`, `WalSync`): the older spelling, which books and people use, is
kept for all versions. An event that version 17 or a later one brought has the spelling that it came with.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FOREGROUND: Final = frozenset({"client backend", "parallel worker"})
"""Kinds of process that work for a client: their I/O is User I/O, their wait for WAL a Commit."""

CPU: Final = ("CPU", "CPU")


@dataclass(frozen=True, slots=True)
class WaitEvent:
    """One line of waits.csv; `background_class` is the class when a background process waits."""

    wait_event: str
    wait_class: str
    background_class: str
    meaning: str


@cache
def wait_events() -> dict[tuple[str, str], WaitEvent]:
    """The mapping, by type and lower-case event; event `*` stands for all of the type that have no line."""
    with Path(__file__).with_name("waits.csv").open(encoding="utf-8", newline="") as file:
        return {
            (line.pop("wait_event_type"), line["wait_event"].lower()): WaitEvent(**line)
            for line in csv.DictReader(file)
        }


def classify(wait_type: str | None, event: str | None, kind: str) -> tuple[str, str]:
    """Class and name of a wait, as `session` and `wait` hold them.

    Args:
        wait_type: `wait_event_type` of pg_stat_activity; null for a process that runs or wants to.
        event: `wait_event`.
        kind: `backend_type`.

    >>> classify("IO", "WALSync", "client backend"), classify("IO", "WalSync", "walwriter")
    (('Commit', 'WALSync'), ('System I/O', 'WALSync'))
    """
    if wait_type is None or event is None:
        return CPU
    known = wait_events().get((wait_type, event.lower()))
    found = known or wait_events().get((wait_type, "*"))
    if found is None:
        return "Other", event
    wait_class = found.wait_class if kind in FOREGROUND else found.background_class or found.wait_class
    return wait_class, known.wait_event if known else event
