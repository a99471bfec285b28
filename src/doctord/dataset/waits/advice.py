"""What a wait usually means, and what to collect to tell: `advice.csv`, beside what it is (`WaitEvent.meaning`).

Given for a kind of wait (`kinds.py`), for a vendor's kind, and for an event where that says more: the closest counts,
so that hundreds of events have a paragraph that makes sense and the file says nothing twice. In words of its own, after
PostgreSQL's "Wait Event Tables" and what each of its views says, Oracle Database Reference 19c, "Descriptions of Wait
Events", and MySQL's "Performance Schema Instrumentation".
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from doctord.dataset.waits.events import VENDORS, find
from doctord.dataset.waits.kernel import place
from doctord.dataset.waits.kinds import KINDS

UNKNOWN = "other"


class Advice(NamedTuple):
    """A paragraph on a wait: what it is, what it usually means, what to collect to tell.

    `is_own`: the last two are those of the event itself, else of all waits of its kind.
    """

    meaning: str
    usually: str
    collect: str
    is_own: bool


def advice(event: str, wait_kind: str | None = None, vendor: str | None = None) -> Advice:
    """The paragraph on a vendor's event.

    Args:
        event: As `wait` and `session` hold it.
        wait_kind: Its kind there; null takes that of the mapping.
        vendor: Whose it is; null asks the mappings, which share no name.

    >>> advice("SyncRep").is_own, advice("ParallelAppend").is_own, advice("of an extension", "internal lock").meaning
    (True, False, "A short lock on the server's own memory: a latch, mutex or lightweight lock.")
    """
    known = next((line for one in ([vendor] if vendor else VENDORS) if (line := find(one, event))), None)
    if known is None and (at := place(event)):
        return Advice(at.meaning, at.usually, at.collect, is_own=True)
    whose = vendor or next((one for one in VENDORS if find(one, event)), "")
    kind = wait_kind or (known.wait_kind if known else UNKNOWN)
    own = _own(whose, known.event if known else event)
    usually, collect = own or _advice().get((whose, kind, "")) or _advice()["", kind, ""]
    return Advice((known.meaning if known else "") or KINDS[kind], usually, collect, is_own=own is not None)


def _own(vendor: str, event: str) -> tuple[str, str] | None:
    """What is written of an event itself, or of all that begin as it does (`Backup: %`)."""
    patterns = (key[2] for key in _advice() if key[0] == vendor and key[2].endswith("%"))
    fits = next((one for one in patterns if event.startswith(one[:-1])), event)
    return _advice().get((vendor, "", fits))


@cache
def _advice() -> dict[tuple[str, str, str], tuple[str, str]]:
    """What it usually means and what to collect, by vendor, kind and event; two of the three may be empty."""
    with Path(__file__).with_name("advice.csv").open(encoding="utf-8", newline="") as file:
        return {
            (line["vendor"], line["wait_kind"], line["event"]): (line["usually"], line["collect"])
            for line in csv.DictReader(file)
        }
