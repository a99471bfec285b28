"""A fitted figure, and how far off it may be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted figure and its interval; a null `high` has no end that the data show."""

    value: float
    low: float
    high: float | None
