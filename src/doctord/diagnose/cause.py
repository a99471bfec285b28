"""What a cause is: one function, documented under fixed headings, that looks at a case and yields claims.

Confidence says how sure its figures make it: 0.95 when the limit or the blocker itself was seen, 0.85 when
strong figures from two sides agree (who waits, and what it waits for), 0.6 when only one side was measured.
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Claim, Finding

VENDORS = {"PostgreSQL": "postgresql", "Oracle": "oracle", "MySQL": "mysql"}
HEADINGS = ("Looks like", "Hurts because", "Speaks for it", "Speaks against it", "Remedy", "Verify", "Source")

Examiner = Callable[[Case], Iterator[Claim]]


@dataclass(frozen=True)
class Cause:
    """A cause of trouble: its name, the component it belongs to, its documentation by heading, and how to look for it.

    `explains` names the causes that are only symptoms when this one is there. `waits` are the kinds of wait
    (`dataset/waits/kinds.py`, `analyse/locking/locks.py`) that are its time, also where its evidence names no event:
    whoever waits for a lock behind a session that waits for one of them waits for this cause (`lock_roots.py`).
    `last`: it looks at what the others said (`Case.claims`).
    """

    name: str
    component: str
    summary: str
    sections: dict[str, str]
    explains: tuple[str, ...]
    examine: Examiner
    waits: tuple[str, ...] = ()
    last: bool = False

    def finding(
        self,
        claim: Claim,
        interval: tuple[datetime, datetime] | None,
        explained_by: str | None,
        components: Collection[str] = (),
    ) -> Finding:
        """What this cause claims, with what its documentation says to those components; to all where none is given."""
        return Finding(
            cause=self.name,
            title=claim.title,
            severity=claim.graded,
            impact=claim.cost,
            confidence=claim.confidence,
            for_=tuple(claim.for_),
            against=tuple(claim.against),
            not_measured=tuple(claim.not_measured),
            remedy=(*claim.first_steps, *(claim.remedy or _told_to(components, self.sections["Remedy"]))),
            verify=tuple(claim.verify) or _told_to(components, self.sections["Verify"]),
            sources=(self.sections["Source"],),
            interval=interval,
            explained_by=explained_by,
            time_of=claim.time_of,
            database=claim.database,
        )


CAUSES: dict[str, Cause] = {}


def cause(
    *, explains: tuple[str, ...] = (), waits: tuple[str, ...] = (), last: bool = False
) -> Callable[[Examiner], Examiner]:
    """Register a function as a cause. Its name is the cause's; its docstring has a summary and all HEADINGS.

    The arguments are those of `Cause`. In Remedy and Verify, what begins with one of VENDORS and a colon is said where
    a server of that vendor was seen.
    """

    def register(examine: Examiner) -> Examiner:
        summary, sections = _documentation(examine)
        if examine.__name__ in CAUSES:
            raise TypeError(f"{examine.__module__}.{examine.__name__}: there is a cause of that name already")
        component = ", ".join(examine.__module__.split(".")[-2:])
        name = examine.__name__
        CAUSES[name] = Cause(name, component, summary, sections, explains, examine, waits, last)
        return examine

    return register


def _told_to(components: Collection[str], section: str) -> tuple[str, ...]:
    """A section of a documentation in its parts: what is said to all, and what is said to a vendor that is there.

    >>> _told_to({"oracle"}, "Commit sooner. PostgreSQL: see pg_locks. Oracle: see v$lock.")
    ('Commit sooner.', 'Oracle: see v$lock.')
    """
    said = re.split(rf"\s*\b(?=(?:{'|'.join(VENDORS)}): )", section)
    others = tuple(f"{name}: " for name, component in VENDORS.items() if components and component not in components)
    return tuple(part for part in said if part and not part.startswith(others))


def _documentation(examine: Examiner) -> tuple[str, dict[str, str]]:
    text = inspect.cleandoc(examine.__doc__ or "")
    summary, *parts = re.split(rf"^({'|'.join(HEADINGS)}):", text, flags=re.MULTILINE)
    sections = {heading: " ".join(body.split()) for heading, body in zip(parts[::2], parts[1::2], strict=True)}
    if tuple(sections) != HEADINGS:
        raise TypeError(
            f"{examine.__module__}.{examine.__name__}: its docstring needs the headings {HEADINGS} in order"
        )
    return summary.strip(), sections
