"""Waits that no cause explains: what they are, who is in them, what they usually mean, and what to collect to tell.

What is not explained is not therefore ill. Work is what a server is there for: CPU time, reads, writes and syncs of
files and of the log, workers of a parallel statement that wait for one another. Whether that is slow or too much the
causes of these things judge, by milliseconds and queues; where they are silent it is said, as a note, only when it
fills most of the time of a busy server. All else is time in which a session stood still for another session, for the
client, for a replica or for a limit: nobody asked for that, and a tenth of the time of it is told whatever it is.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import polars as pl

from doctord.analyse.time import UNACCOUNTED, TimeShare
from doctord.dataset.tables import WORKING
from doctord.dataset.waits.advice import Advice, advice
from doctord.dataset.waits.events import VENDORS, find
from doctord.dataset.waits.kernel import OFF_CPU, SLEEPS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import leaders
from doctord.diagnose.common.waited import waited
from doctord.diagnose.explained import named
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# Less than a tenth of the time, of which no more is known than its name, alarms nobody.
SMALL = 0.1
FEWEST_LOOKS = 3
# Of work that nothing shows to be ill: most of the time, and never less than one session in it.
MOST_OF_TIME, ALWAYS_ONE = 0.5, 1.0
ON_CPU: Final = frozenset({"cpu", "run queue", "idle"})
SERVICE: Final = ON_CPU | frozenset(
    { "single read", "multi-block read", "read by another", "data write", "temp",
     "file operation", "log sync", "log write", "log switch", "backup", "parallel"}
)  # fmt: skip
# A new page is the session's own write; the lock to add one is another session's.
OF_FILES: Final = frozenset({"User I/O", "System I/O"})
# A session that waits for more of its own input goes at its client's pace: a load, a program between two messages.
PACED: Final = frozenset({"ClientRead", "Receiving from client", "Reading from net"})
NEVER_TOLD: Final = ON_CPU | {"parallel"}
# Work of Oracle's that every server does, of which the causes of reads, commits and clusters judge whether it is too
# much. What begins with a bracket is no event: time that the source does not name. A handler's wait of MySQL's is all
# that a table's rows took, on a CPU or not.
JUDGED: Final = ("(", "CPU", "db file ", "direct path read", "cell ", "log file sync", "gc ", "wait/io/table/")
# Oracle's own texts say what goes on; the others what may.
SAYS_ITSELF: Final = "oracle"
MOST_NAMED = 2
OF_DATABASES: Final = regex(r"\s*(?:create|drop)\s+database\b", re.IGNORECASE)
NEARLY_ALL: Final = 0.9


@cause(last=True)
def other_waits(case: Case) -> Iterator[Claim]:
    """Sessions wait for something that no other cause explains.

    Looks like: a wait event takes a tenth of the time and more, and no finding names it or its kind.
    Hurts because: it is time of sessions like any other; that nothing is known of its cause makes it no smaller.
    Speaks for it: share of the time, what the server calls it, which statements, users and programs are in it.
    Speaks against it: nothing here: why it is waited for, the event alone does not say. Work that nothing shows to be
        ill (reads, writes, commits) is told as a note, where it fills most of the time.
    Remedy: None yet: collect what tells the cause, while it lasts.
        Oracle: look the event up (Oracle Database Reference; Oracle Support has a note for most), and see with ASH
        which sessions, modules and statements wait for it, and for which parameters (P1 to P3).
    Verify: The share of the event.
    Source: PostgreSQL documentation, "Wait Event Tables"; Oracle Database Reference 19c, "Descriptions of Wait Events";
        MySQL Reference Manual, "Performance Schema Instrumentation" and "General Thread States".
    """
    told = named(case.claims)
    for part in _events(case):
        if told.explains(part):
            continue
        vendor = _vendor(case, part)
        if _is_service(part, vendor):
            yield from _much_work(case, part, vendor)
        elif case.worth_saying(part.share) and _lasts(case, part):
            yield _unexplained(case, part, vendor)


def _lasts(case: Case, part: TimeShare) -> bool:
    """Whether it was counted, or seen at more looks than one or two, which may be chance."""
    seen = case.active.filter(pl.col("event") == part.event)
    return seen.is_empty() or seen["ts"].n_unique() >= FEWEST_LOOKS


def _events(case: Case) -> list[TimeShare]:
    """The events of the database's time, those of several classes as one; in the order of the alphabet."""
    events = dict[str, TimeShare]()
    for part in case.time.shares if case.time.of == "database" else ():
        if part.event.startswith(JUDGED) or part.wait_class == UNACCOUNTED[0]:
            continue
        one = events.get(part.event)
        events[part.event] = part if one is None else replace(
            one, share=one.share + part.share, seconds_per_second=one.seconds_per_second + part.seconds_per_second
        )  # fmt: skip
    return [events[event] for event in sorted(events)]


def _unexplained(case: Case, part: TimeShare, vendor: str | None) -> Claim:
    about = advice(part.event, part.wait_kind, vendor)
    says_itself = vendor == SAYS_ITSELF and about.is_own
    on_purpose = _until_nobody_is_in(case, part)
    return Claim(
        phrase("Sessions wait for {}: {:share of database}", part.event, part.share),
        impact=part.share,
        confidence=0.7 if says_itself else 0.5,
        for_=[
            *_waiting(case, part, _what(about, vendor)),
            *_who(case, part),
            *on_purpose,
            *(leaders(case, "v$latch.wait_time", "a latch waited for") if part.event.startswith("latch") else []),
        ],
        remedy=_told(about, vendor),
        severity="note" if part.share < SMALL or on_purpose else None,
        database=_database(case, part),
    )


def _until_nobody_is_in(case: Case, part: TimeShare) -> list[Evidence]:
    """That CREATE and DROP DATABASE alone sleep, as they do until nobody is in the database or its template.

    Source: PostgreSQL, src/backend/storage/ipc/procarray.c, CountOtherDBBackends: fifty looks, one every tenth of a
    second, without a wait event.
    """
    if part.event not in SLEEPS:
        return []
    rows = _rows(case, part)
    ids = rows["statement_id"].drop_nulls().unique(maintain_order=True)
    theirs = [one for one in ids if OF_DATABASES.match(case.statement_text(one) or "")]
    waited_s = float(rows.filter(pl.col("statement_id").is_in(theirs))["interval_s"].sum())
    if not theirs or waited_s < NEARLY_ALL * float(rows["interval_s"].sum()):
        return []
    why = "they wait up to 5 s until nobody is connected to it or to its template, and let nobody in there meanwhile"
    return [Evidence("session", f"event = '{part.event}'", "only in CREATE and DROP DATABASE", "", why)]


def _much_work(case: Case, part: TimeShare, vendor: str | None) -> Iterator[Claim]:
    """Work that is most of the time, with a session in it at every moment, and that nothing shows to be ill."""
    if part.wait_kind in NEVER_TOLD or part.share < MOST_OF_TIME or part.seconds_per_second < ALWAYS_ONE:
        return
    about = advice(part.event, part.wait_kind, vendor)
    yield Claim(
        phrase("{:share of database} is {}; nothing that was measured shows it to be ill", part.share, part.event),
        impact=part.share,
        confidence=0.3,
        for_=[*_waiting(case, part, about.meaning), *_who(case, part)],
        remedy=_told(about, vendor),
        severity="note",
        database=_database(case, part),
    )


def _vendor(case: Case, part: TimeShare) -> str | None:
    """Whose event it is; where no mapping has it, that of the only vendor seen."""
    known = next((vendor for vendor in VENDORS if find(vendor, part.event)), None)
    return known or (next(iter(case.components)) if len(case.components) == 1 else None)


def _is_service(part: TimeShare, vendor: str | None) -> bool:
    """Whether it is work; of Oracle's, whose causes judge all the work that they know (JUDGED), time on a CPU alone."""
    if vendor == SAYS_ITSELF:
        return part.wait_kind in ON_CPU
    is_own_file = part.wait_kind == "space" and part.wait_class in OF_FILES
    return part.wait_kind in SERVICE or is_own_file or part.event in PACED


def _waiting(case: Case, part: TimeShare, what: str) -> list[Evidence]:
    """How much is waited for it: as the server counts it, else in sampled sessions, with what it is."""
    if part.event == OFF_CPU:
        figure = phrase("{:share of database}, {:.1f sessions} on average", part.share, part.seconds_per_second)
        why = "at work by the server's word; the scheduler counted neither CPU nor run queue"
        return [Evidence("process", "command = 'postgres: client backend'", figure, phrase("{:share}", SMALL), why,
                         "at_least")]  # fmt: skip
    if case.active.is_empty():
        return waited(case, part.event, why=what)
    return [
        Evidence(
            "session",
            f"event = '{part.event}'",
            phrase("{:share of database}, {:.1f sessions} on average", part.share, part.seconds_per_second),
            phrase("{:share}", SMALL),
            what,
            "at_least",
        )
    ]


def _who(case: Case, part: TimeShare) -> list[Evidence]:
    """The statements that waited most, and the users with their programs, where sessions were sampled."""
    rows = _rows(case, part)
    return [*_statements(case, rows, part), *_programs(rows, part)]


def _rows(case: Case, part: TimeShare) -> pl.DataFrame:
    """Samples of sessions at work in a wait."""
    at_work = pl.col("kind").is_in(WORKING) & (pl.col("state") == "active")
    return case.dataset.frame("session").filter(at_work & (pl.col("event") == part.event))


def _statements(case: Case, rows: pl.DataFrame, part: TimeShare) -> list[Evidence]:
    return [
        Evidence("session", f"event = '{part.event}' and statement_id = '{one}'",
                 phrase("statement {}: {:share} of this waiting", one, share), "",
                 shortened(case.statement_text(one) or ""))
        for (one,), share in _shares(rows, "statement_id")
    ]  # fmt: skip


def _programs(rows: pl.DataFrame, part: TimeShare) -> list[Evidence]:
    return [
        Evidence("session", f"event = '{part.event}' and \"user\" = '{user}' and program = '{program}'",
                 phrase("user {}, program {}: {:share} of this waiting", user, program, share), "", "")
        for (user, program), share in _shares(rows, "user", "program")
    ]  # fmt: skip


def _shares(rows: pl.DataFrame, *columns: str) -> list[tuple[tuple[str, ...], float]]:
    """Those with most of the samples' time, and their part (0 to 1) of all of it."""
    sums = rows.drop_nulls(columns).group_by(*columns, maintain_order=True).agg(pl.col("interval_s").sum())
    largest = sums.sort("interval_s", *columns, descending=[True, *(False for _ in columns)], maintain_order=True)
    total = float(rows["interval_s"].sum())
    return [(tuple(map(str, row[:-1])), row[-1] / total) for row in largest.head(MOST_NAMED).iter_rows() if total]


def _what(about: Advice, vendor: str | None) -> str:
    """What it is; of Oracle's events what goes on, where that is written."""
    if vendor == SAYS_ITSELF:
        return about.usually.rstrip(".") if about.is_own else ""
    return about.meaning


def _told(about: Advice, vendor: str | None) -> tuple[Words, ...]:
    """What it usually means and what to collect; of Oracle's events of which nothing is written, its books say that."""
    if vendor == SAYS_ITSELF:
        return (about.collect,) if about.is_own else ()
    return (phrase("Usually: {}", about.usually), phrase("To tell, collect: {}", about.collect))


def _database(case: Case, part: TimeShare) -> str | None:
    """The only server on which it was waited for."""
    names = _rows(case, part)["db"].drop_nulls().unique(maintain_order=True)
    return str(names[0]) if len(names) == 1 else None
