"""Errors that MySQL raises, by number, as its performance_schema counts them; warnings are among them."""

from typing import NamedTuple

from doctord.dataset.mysql_names import RAISED
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
    told = ((one.mean, one.entity or "") for one in case.figures(RAISED) if one.db == db and one.mean > 0)
    return [_raised(per_s, entity) for per_s, entity in told]


def _raised(per_s: float, entity: str) -> Raised:
    number, _, name = entity.split(" ", 2)
    return Raised(int(number), name, per_s, entity)
