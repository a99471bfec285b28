"""What of the time the claims of causes explain: the waits and statements that their evidence names.

A claim explains a wait when its evidence names the event, its kind or its class (`event in ('tuple')`, `wait_kind =
'log sync'`), and the time of a statement when it names that (`statement_id = '17'`). A cause that costs time explains
the kinds of wait too that it is declared to be about (`@cause(waits=...)`): evidence for a shortage of CPUs is the
host's and names no event.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.time import TimeShare
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES
from doctord.diagnose.finding import Claim, Evidence
from doctord.regex import regex

OF_WAITS: Final = ("wait", "session")
BACKGROUND: Final = "kind = 'background'"
TEXT: Final = regex(r"'((?:[^']|'')+)'")
STATEMENT: Final = regex(r"^statement_id = '([^']+)'")
# That a class of waits grew says where to look, and not why.
OF_HISTORY: Final = "history, "
BY_CLASS: Final = "wait_class"


class Named(NamedTuple):
    """What claims name: events, kinds and classes of waits (`%` at the end stands for any text), and statements."""

    waits: frozenset[str]
    statements: frozenset[str]

    def explains(self, part: TimeShare) -> bool:
        """Whether a part of the time is named."""
        if {part.event, part.wait_kind, part.wait_class} & self.waits:
            return True
        return any(one.endswith("%") and part.event.startswith(one[:-1]) for one in self.waits)


def named(claims: Iterable[tuple[str, Claim]]) -> Named:
    """What claims name, each given with the name of its cause."""
    waits, statements = set[str](), set[str]()
    for name, claim in claims:
        if claim.explains_waits:
            if claim.cost.share is not None:
                waits.update(CAUSES[name].waits)
            waits.update(text for item in claim.for_ for text in _waits_in(item, CAUSES[name].component))
            statements.update(text for item in claim.for_ for text in STATEMENT.findall(item.filter))
    return Named(frozenset(waits), frozenset(statements))


def _waits_in(item: Evidence, component: str) -> list[str]:
    is_growth = component.startswith(OF_HISTORY) and item.filter.startswith(BY_CLASS)
    if item.table not in OF_WAITS or BACKGROUND in item.filter or is_growth:
        return []
    return TEXT.findall(item.filter)


def explained_share(case: Case) -> float | None:
    """Share (0 to 1) of the database time that the claims of the causes explain; null where it is of something else.

    What is said of waits that nobody explains (`@cause(last=True)`) is no explanation. The rest is work that nothing
    shows to be ill, and what nobody explains.
    """
    claims = [(name, claim) for name, claim in case.claims if not CAUSES[name].last]
    if case.time.of != "database" or not case.time.shares or not claims:
        return None
    told = named(claims)
    parts = [part for part in case.time.shares if told.explains(part)]
    share = sum(part.share for part in parts)
    if case.active.is_empty() or not told.statements:
        of_statements = [claim.cost.share or 0.0 for name, claim in claims if named([(name, claim)]).statements]
        return min(max(share, *of_statements, 0.0), 1.0)
    others = case.active.filter(~pl.col("event").is_in([part.event for part in parts]))
    theirs = others.filter(pl.col("statement_id").is_in(list(told.statements)))["interval_s"].sum()
    return min(share + float(theirs) / case.database_time_s(), 1.0)
