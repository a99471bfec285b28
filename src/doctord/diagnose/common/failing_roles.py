"""Roles of which all fails, or most, in a database: little of all that a server does, and everything to them."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.errors import Logged, met
from doctord.diagnose.case import Case
from doctord.diagnose.common.failures import (
    COMMITS,
    NEVER_SUCCEEDS_PER_S,
    NO_PARTITION,
    OTHER,
    OVER_S,
    ROLLBACKS,
    Failed,
    failed,
)
from doctord.diagnose.common.time_limits import time_limit
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.regex import regex

WORK: Final = "pg_stat_statements.calls_on_tables"
# So many roles are told at most: where it is all of them, one that is missing did nothing.
MOST_ROLES: Final = 200
# Half of what it asks for fails: who is behind the role does without it. Fewer than five may be one user's mistake.
MOST: Final = 0.5
FEWEST: Final = 5.0
TIMEOUT: Final = "timeout"
_WHO: Final = regex(r"^user (?P<role>[^,]+), database (?P<database>[^,]+)")


class FailingRole(NamedTuple):
    """A role in a database: its errors, in all and a second, and what else it does there a second.

    `done_per_s` counts statements by `done` (a name of statistics); `first` is the message that it met most. Role and
    database are null where nothing tells who meets the errors: then what all roles do counts.
    """

    db: str
    role: str | None
    database: str | None
    errors: float
    per_s: float
    done_per_s: float
    done: str
    first: Logged

    @property
    def share(self) -> float:
        """The part (0 to 1) of what it asks for that fails."""
        return self.per_s / (self.per_s + self.done_per_s)

    def evidence(self) -> list[Evidence]:
        """What fails, and what else it does."""
        words = "statements on tables that succeed" if self.done == WORK else "commits in that database"
        if self.role is None:
            told = "log.errors", f"db = '{self.db}'", "what is asked for", phrase("{:.0f errors}", self.errors)
        else:
            whose = f"user {self.role}, database {self.database}" if self.done == WORK else self.database
            errors = phrase("{:.0f errors} of role {} in database {}", self.errors, self.role, self.database)
            told = "log.errors_from", f"entity = '{whose}'", "what it asks for", errors
        name, where, asked, errors = told
        return [
            Evidence("statistic", f"name = '{name}' and db = '{self.db}'", errors, phrase("{:.0f}", FEWEST),
                     phrase("{:.2g per s}", self.per_s), "at_least"),
            Evidence("statistic", f"name = '{self.done}' and {where}",
                     phrase("{:share} of {} fails", self.share, asked), phrase("{:share}", MOST),
                     phrase("beside {:.2g} {} per s", self.done_per_s, words), "at_least"),
        ]  # fmt: skip


def failing_roles(case: Case, db: str) -> list[FailingRole]:
    """Roles of which half and more fails, by errors that no application expects or limits that it did not set itself.

    None of an error that is a trouble for the server as a whole, or is over. Where nothing tells who met it, it is held
    against what all roles do: PostgreSQL counts the rollback of a session that does nothing but fail when that ends.
    Most first.
    """
    little = [each for each in failed(case, db) if _is_little_of_all(each)]
    found = [one for each in little for one in (*_of(case, each), *_of_nobody_known(case, each))]
    return sorted(found, key=lambda one: (-one.share, -one.errors, one.role or "", one.database or ""))


def _is_little_of_all(one: Failed) -> bool:
    is_kind = one.kind in (OTHER, NO_PARTITION) or one.kind.name == TIMEOUT
    return is_kind and one.severity in (None, "note") and one.quiet_s < OVER_S


def _of(case: Case, one: Failed) -> Iterator[FailingRole]:
    counts, first = dict[tuple[str, str], float](), dict[tuple[str, str], Logged]()
    for message in one.messages:  # the most frequent first
        if one.kind.name == TIMEOUT and not _is_imposed(case, message):
            continue
        for who, count in met(case.dataset, message):
            if named := _WHO.match(who):
                key = named["role"], named["database"]
                counts[key] = counts.get(key, 0.0) + count
                first.setdefault(key, message)
    for (role, database), count in counts.items():
        per_s = one.per_s * count / one.count
        done, done_per_s = _done(case, one.db, role, database)
        if done is not None and done_per_s is not None and count >= FEWEST:
            found = FailingRole(one.db, role, database, count, per_s, done_per_s, done, first[role, database])
            if found.share >= MOST:
                yield found


def _of_nobody_known(case: Case, one: Failed) -> Iterator[FailingRole]:
    unknown = {each: each.count - sum(count for _, count in met(case.dataset, each)) for each in one.messages}
    count = sum(unknown.values())
    per_s = one.per_s * count / one.count
    done_per_s = sum(figure.mean for figure in case.figures(WORK) if figure.db == one.db)
    if one.kind.name != TIMEOUT and count >= FEWEST and per_s >= NEVER_SUCCEEDS_PER_S and done_per_s:
        first = max(unknown, key=lambda each: unknown[each])
        found = FailingRole(one.db, None, None, count, per_s, done_per_s, WORK, first)
        if found.share >= MOST:
            yield found


def _is_imposed(case: Case, message: Logged) -> bool:
    """Whether a limit is set in the server: a session that has set its own means to give up."""
    limit = time_limit(case, message)
    return limit is not None and limit.seconds is not None


def _done(case: Case, db: str, role: str, database: str) -> tuple[str | None, float | None]:
    """What a role does in a database a second, and by which figure; null where neither it nor the database is told."""
    told = {figure.entity: figure.mean for figure in case.figures(WORK) if figure.db == db}
    who = f"user {role}, database {database}"
    if who in told or 0 < len(told) < MOST_ROLES:
        return WORK, told.get(who, 0.0)
    commits = {figure.entity: figure.mean for figure in case.figures(COMMITS) if figure.db == db}
    rollbacks = {figure.entity: figure.mean for figure in case.figures(ROLLBACKS) if figure.db == db}
    return (COMMITS, commits[database]) if database in commits and database in rollbacks else (None, None)
