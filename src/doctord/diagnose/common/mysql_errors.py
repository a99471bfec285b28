"""Errors that MySQL raises, by number, as its performance_schema counts them; warnings are among them."""

from typing import NamedTuple

from doctord.analyse.figures import Statistic
from doctord.dataset.mysql_names import FAILED_STATEMENTS, RAISED
from doctord.diagnose.case import Case


class Raised(NamedTuple):
    """One number: what it is called, and how often a second it was raised. `entity` is as `statistic` has it."""

    number: int
    name: str
    per_s: float
    entity: str

    @property
    def words(self) -> str:
        """As an administrator looks it up."""
        return f"{self.name} ({self.number})"

    @property
    def filter(self) -> str:
        """The condition that finds its rows."""
        return f"name = '{RAISED}' and entity = '{self.entity}'"


def raised(case: Case, db: str | None) -> list[Raised]:
    """What a server raised, most often first; empty where it does not tell."""
    told = (_raised(over_all(case, one), one.entity or "") for one in case.figures(RAISED) if one.db == db)
    return sorted((one for one in told if one.per_s > 0), key=lambda one: -one.per_s)


def over_all(case: Case, one: Statistic) -> float:
    """The rate, over all the time that failed statements were counted, of what is told only while it happens."""
    counted_s = next((all_.seconds for all_ in case.figures(FAILED_STATEMENTS) if all_.db == one.db), 0.0)
    seconds = max(counted_s, one.seconds)
    return one.mean * one.seconds / seconds if seconds else one.mean


def _raised(per_s: float, entity: str) -> Raised:
    number, _, name = entity.split(" ", 2)
    return Raised(int(number), name, per_s, entity)
