"""Loops of an application around a statement: a round trip for each row where one statement would do."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

SELECT: Final = regex(r"^\s*select\b.*\bwhere\b", re.IGNORECASE | re.DOTALL)
# What begins or ends a transaction, or writes a row: where it goes with each look-up, they are a transaction's own.
OF_ITS_OWN: Final = regex(r"^\s*(begin|start\s+transaction|commit|end|insert|update|delete|merge)\b", re.IGNORECASE)
# Once in ten seconds: two rows in the shortest check-up, of a page that somebody waits for.
OFTEN_PER_S: Final = 0.1
# A round trip within a data centre takes half a millisecond (J. Dean, 2009): 100 of them are felt, 20 are not.
FELT, MANY = 100.0, 20.0
# How many rows a look-up may return: an order has a few lines.
FEW_ROWS: Final = 10.0
# What is under way at both readings is counted for one of the two and not for the other.
SAME: Final = 0.05
MOST_TOLD = 3
CLIENT = NotMeasured(
    "how long the client waits for all of them together",
    "the server sees each statement alone, and calls the time between two of them idle",
    "the application's own timings, or a trace of one request (statements with the same trace id)",
)


class Asked(NamedTuple):
    """A statement by its text, however it was sent: all of its ids, executions and rows returned a second."""

    text: str
    ids: tuple[str, ...]
    calls_per_s: float
    rows_per_s: float
    elapsed_ms: float

    @property
    def rows(self) -> float:
        """Rows that a call returns."""
        return self.rows_per_s / self.calls_per_s


@cause(explains=("statement_dominates",))
def n_plus_one_queries(case: Case) -> Iterator[Claim]:
    """An application executes one statement for each row that another one returned (N+1 queries).

    Looks like: a SELECT of one or a few rows is executed as often, each second, as another statement returns rows,
        dozens of rows to each of its calls. Each is quick, the server is hardly busy, and the page takes long.
    Hurts because: each execution costs a round trip, during which the server waits for the client and the client for
        the network: a hundred of them are longer than one join that returns it all.
    Speaks for it: executions of the one against rows returned by the other; how many follow each call.
    Speaks against it: a BEGIN, a COMMIT or a write that is executed as often as the look-up: then each is a transaction
        of its own, of another application that happens to be as busy, or of a job that works through its list.
    Remedy: In the application: fetch the rows together, by a join or by `= ANY(array)` (eager loading, `JOIN FETCH`,
        `select_related`, `includes`: the words of the mapper in use); execute in batches, or in a pipeline. No index
        and no setting of the server makes round trips fewer.
    Verify: Executions a second of the small statement fall to those of the large one, and the page is quicker.
    Source: M. Fowler, Patterns of Enterprise Application Architecture, 2002, "Lazy Load" (ripple loading); PostgreSQL
        documentation, "pg_stat_statements" and libpq "Pipeline Mode".
    """
    for db, own in groupby(sorted(case.statements, key=lambda one: one.db), key=lambda one: one.db):
        told = list(own)
        asked, beside = _asked(told, SELECT), _asked(told, OF_ITS_OWN)
        claims = [(first, _followers(first, asked)) for first in asked if _may_begin(first)]
        beginnings = [(first, by) for first, by in claims if by and not any(first in other for _, other in claims)]
        for first, by in sorted(beginnings, key=lambda one: -_each(*one))[:MOST_TOLD]:
            alone = [one for one in by if not _companions(one, beside)]
            yield _claim(db, first, alone or by, [] if alone else _companions(by[0], beside))


def _claim(db: str, first: Asked, by: Sequence[Asked], companions: Sequence[Asked]) -> Claim:
    each = _each(first, by)
    return Claim(
        phrase("{:,.0f} single statements follow each execution of another one (N+1 queries): {}", each,
               shortened(by[0].text)),
        impact=NOT_MEASURED,
        severity="warning" if each >= FELT and not companions else "note",
        confidence=0.3 if companions else 0.75 if len(by) > 1 else 0.6,
        for_=[_evidence(first, "it returns the rows of which each is looked up"),
              *(_evidence(one, "executed as often as rows were returned") for one in by)],
        against=[_evidence(one, "as often too: each look-up is part of a transaction of its own")
                 for one in companions[:MOST_TOLD]],
        not_measured=[CLIENT],
        database=db,
    )  # fmt: skip


def _asked(statements: Sequence[Statement], shape: re.Pattern[str]) -> list[Asked]:
    """Those whose text is of a shape, each text once: drivers send one text in several forms."""
    told = [
        one for one in statements if one.calls_per_s and one.rows_per_call is not None and shape.match(one.text or "")
    ]
    asked = []
    for text, same in groupby(sorted(told, key=lambda one: one.text or ""), key=lambda one: one.text or ""):
        every = list(same)
        calls = sum(one.calls_per_s or 0.0 for one in every)
        rows = sum((one.calls_per_s or 0.0) * (one.rows_per_call or 0.0) for one in every)
        spent_ms = sum((one.calls_per_s or 0.0) * (one.elapsed_ms or 0.0) for one in every)
        asked.append(Asked(text, tuple(sorted(one.statement_id for one in every)), calls, rows, spent_ms / calls))
    return asked


def _may_begin(one: Asked) -> bool:
    return one.calls_per_s >= OFTEN_PER_S and one.rows >= MANY


def _followers(first: Asked, asked: Sequence[Asked]) -> list[Asked]:
    """Those that are executed once for each row of the first, and once for each row of these, with most calls first."""
    followers: list[Asked] = []
    ahead = [first]
    while ahead:
        rows_per_s = ahead.pop().rows_per_s
        for one in asked:
            if (
                one is not first
                and one not in followers
                and one.rows <= FEW_ROWS
                and _is_same(one.calls_per_s, rows_per_s)
            ):
                followers.append(one)
                ahead.append(one)
    return sorted(followers, key=lambda one: (-one.calls_per_s, one.text))


def _companions(follower: Asked, beside: Sequence[Asked]) -> list[Asked]:
    """What begins, ends or writes as often as a look-up is executed, those nearest to it first."""
    found = [one for one in beside if _is_same(one.calls_per_s, follower.calls_per_s)]
    return sorted(found, key=lambda one: (abs(one.calls_per_s - follower.calls_per_s), one.text))


def _is_same(calls_per_s: float, rows_per_s: float) -> bool:
    return abs(calls_per_s - rows_per_s) <= SAME * rows_per_s


def _each(first: Asked, by: Sequence[Asked]) -> float:
    """Executions that follow one of the first."""
    return sum(one.calls_per_s for one in by) / first.calls_per_s


def _evidence(one: Asked, why: Words) -> Evidence:
    figure = phrase("{:,.1f executions/s}, {:.1f} rows and {:.2g ms} each", one.calls_per_s, one.rows, one.elapsed_ms)
    where = f"statement_id in ({', '.join(repr(number) for number in one.ids)})"
    return Evidence("statement", where, figure, "", phrase("{}: {}", shortened(one.text), why))
