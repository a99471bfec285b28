"""Oracle's other waits: those that need no more than to be named, and those that no cause is known for."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES, cause
from doctord.diagnose.finding import Claim
from doctord.diagnose.oracle import leaders
from doctord.diagnose.phrase import phrase
from doctord.diagnose.waited import share, waited

# Events that say by themselves what goes on, and what to do (Oracle Database Reference 19c, "Descriptions of Wait
# Events").
MEANING = {
    "direct path write": (
        "loads and LOBs written past the cache",
        "Quicker writes; loads at a quiet time; cached LOBs.",
    ),
    "direct path sync": ("files flushed after direct writes", "Quicker writes; fewer, larger loads."),
    "Disk file operations I/O": ("files opened, closed and resized", "File systems and their metadata; fewer files."),
    "utl_file I/O": ("PL/SQL that reads and writes files", "External tables in place of utl_file; larger lines."),
    "external table read": ("flat files read through external tables", "Where the files lie; parallel readers."),
    "os thread startup": ("processes started by the host", "Fewer parallel statements and logons; a busy host."),
    "rdbms ipc reply": ("another process of the server is asked to do something", "ASH of the same time: which one."),
    "DFS lock handle": (
        "a lock over all instances: sequences, checkpoints, DDL",
        "ASH: P1 names the lock (SV: cache).",
    ),
    "reliable message": (
        "a message to all other processes or instances",
        "DDL, truncates, result cache: less of them.",
    ),
    "Failed Logon Delay": ("logons with a wrong password, slowed down", "The client that tries, by the audit trail."),
    "undo segment extension": ("undo segments that grow", "Room in the undo tablespace; smaller transactions."),
    "kksfbc child completion": ("child cursors being built", "Why versions are not shared (v$sql_shared_cursor)."),
    "latch free": ("a latch of any kind", "The latches with most wait time, below."),
}
BACKUP = "Backup: "
# Less than a tenth of the time, of which no more is known than its name, alarms nobody.
SMALL = 0.1
# Work that every server does: the causes of reads, commits and clusters judge whether it is too much or too slow.
# What begins with a bracket is no event: time that the source does not name.
JUDGED = ("(", "CPU", "db file ", "direct path read", "cell ", "log file sync", "gc ")


@cause()
def other_waits(case: Case) -> Iterator[Claim]:
    """Sessions wait for something that has a name of its own.

    Looks like: an event that no other cause is about takes a share of the time.
    Hurts because: it is time of sessions like any other.
    Speaks for it: share of the time, and what Oracle waits for under that name.
    Speaks against it: nothing here: why it is waited for, the event alone does not say.
    Remedy: Look the event up (Oracle Database Reference; Oracle Support has a note for most), and see with ASH which
        sessions, modules and statements wait for it, and for which parameters (P1 to P3).
    Verify: The share of the event.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events".
    """
    oracles = (
        case.dataset.frame("wait").filter(pl.col("db").str.starts_with("oracle"))["event"].unique(maintain_order=True)
    )
    felt = [event for event in oracles if not event.startswith(JUDGED) and case.worth_saying(share(case, event))]
    for event in sorted(set(felt) - _told(case) if felt else ()):
        part = share(case, event)
        what, remedy = MEANING.get(event, ("", ""))
        if event.startswith(BACKUP):
            what, remedy = "a backup", "Nothing, if it runs when it should; else its time, its channels, its rate."
        yield Claim(
            phrase("Sessions wait for {}: {:share of database}", event, part),
            impact=part,
            confidence=0.7 if what else 0.5,
            for_=[
                *waited(case, event, why=what),
                *(leaders(case, "v$latch.wait_time", "a latch waited for") if event.startswith("latch") else []),
            ],
            remedy=(remedy,) if remedy else (),
            severity="note" if part < SMALL else None,
        )


def _told(case: Case) -> set[str]:
    """Events that findings of the other causes name."""
    others = [known for known in CAUSES.values() if known.name != other_waits.__name__]
    evidence = [item for known in others for finding in known.examine(case) for item in finding.for_]
    return {item.filter.removeprefix("event = ").strip("'") for item in evidence if item.table == "wait"}
