"""Commits with NOTIFY, which go one by one."""

import re
from collections.abc import Iterator

from doctord.analyse.locking.locks import NOTIFY, Blocker
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.waited import of_kind
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

FUNCTIONS = "pg_proc.notifies"
NOTIFIES = regex(r"\bpg_notify\s*\(|^\s*notify\b", re.IGNORECASE)
MOST_NAMED = 4
UNKNOWN = NotMeasured(
    "who notifies",
    "no function's source names NOTIFY in the databases that were looked into, nor the text of a statement",
    "pg_stat_statements; search the application for NOTIFY and pg_notify.",
)


@cause(explains=("row_locks", "table_locks"), waits=(NOTIFY,))
def commits_notify(case: Case) -> Iterator[Claim]:
    """Transactions that notify listeners commit one by one, each waiting for the commits before it.

    Looks like: sessions wait in PostgreSQL's `object` lock at their commit: in pg_locks for database 0 (locktype
        object, classid pg_database), in mode AccessExclusiveLock. The first in line does what every commit does: it
        writes the log, and waits for its standby.
    Hurts because: a transaction that notified takes one lock for all of the server before its commit, and keeps it
        until the commit is done: such commits share no write of the log, and a second one begins when the first has
        ended. What one commit takes is the most that all sessions together can have: at 5 ms each 200 a second.
    Speaks for it: share of database time in that wait; what the first in line does meanwhile; functions and triggers
        whose source notifies, and statements.
    Speaks against it: nothing: it is the lock itself. That commits take long (a standby, a disk) makes the line slower;
        without NOTIFY they would take as long side by side.
    Remedy: Notify less: one NOTIFY for a batch of rows (a statement trigger, or the job at its end) in place of one for
        each transaction; none where nobody listens (pg_listening_channels of the listeners). Take it out of the hot
        transaction: write a row into a table of messages, which a worker reads and notifies of, once in a while; or let
        listeners poll that table (for update skip locked), or read logical decoding.
        Make such commits short as long as they are needed: synchronous_commit = local or off for transactions that may
        be lost.
    Verify: No session waits for that lock; transactions per second rise with the sessions.
    Source: PostgreSQL documentation, "NOTIFY"; PostgreSQL's source, PreCommit_Notify (src/backend/commands/async.c):
        the lock on database 0 is held through the commit, so that notifications are in the order of commits.
    """
    share = case.time.kind_share(NOTIFY)
    if not case.worth_with_locks(share, NOTIFY):
        return
    named = [*_functions(case), *_statements(case)]
    yield Claim(
        phrase("{:share of database} waits for other transactions to commit with NOTIFY, which go one by one", share),
        impact=share,
        confidence=0.95,
        for_=[
            *of_kind(case, NOTIFY, why="the lock on database 0, from before a commit with NOTIFY until it is done"),
            *_ahead(case.blockers_of(NOTIFY)),
            *named,
        ],
        first_steps=_where(case),
        not_measured=() if named else (UNKNOWN,),
    )


def _ahead(roots: list[Blocker]) -> Iterator[Evidence]:
    """What the first in line does meanwhile: it changes with each commit, so that all are taken together."""
    by_event = dict[str, float]()
    for root in roots:
        if root.event:
            by_event[root.event] = by_event.get(root.event, 0.0) + root.blocked_s
    total = sum(by_event.values())
    for event, seconds in sorted(by_event.items(), key=lambda one: (-one[1], one[0]))[:1]:
        yield Evidence(
            "session",
            "event = 'object (NOTIFY)'",
            phrase("{:share} of that time the first in line is in {}", seconds / total, event),
            "",
            "that is what one commit takes: it sets the pace of the line, and is not why there is one",
        )


def _functions(case: Case) -> Iterator[Evidence]:
    for function in case.figures(FUNCTIONS)[:MOST_NAMED]:
        name, fires, tables = (function.entity or "").partition(" on ")
        why: Words = phrase("fired by triggers of {}", tables) if fires else "called by statements or other functions"
        yield Evidence("statistic", f"name = '{FUNCTIONS}'", phrase("the source of {} notifies", name), "", why)


def _statements(case: Case) -> Iterator[Evidence]:
    """Statements that notify themselves, those with most calls first."""
    texts = case.dataset.frame("statement").select("statement_id", "text", "calls_per_s").drop_nulls()
    often = dict[tuple[str, str], float]()
    for one, text, calls in texts.iter_rows():
        if NOTIFIES.search(text):
            often[one, text] = max(often.get((one, text), 0.0), calls)
    for (one, text), calls in sorted(often.items(), key=lambda it: (-it[1], it[0]))[:MOST_NAMED]:
        yield Evidence("statement", f"statement_id = '{one}'", phrase("called {:rate}", calls), "",
                       shortened(text))  # fmt: skip


def _where(case: Case) -> list[Words]:
    functions = [figure.entity or "" for figure in case.figures(FUNCTIONS)]
    fired = [name for name in functions if " on " in name]
    return [
        phrase("Begin with {}: a trigger that notifies makes every write of its table one of these commits.", name)
        for name in fired[:1]
    ]
