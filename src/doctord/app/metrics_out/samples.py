"""A metric at a moment, as both ways out take it."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple


class Sample(NamedTuple):
    """A gauge: its name as Prometheus writes it (`doctord_active_sessions`), its labels and value; what it is of."""

    name: str
    labels: Mapping[str, str]
    value: float
    about: str = ""


class Moment(NamedTuple):
    """All samples of a moment."""

    at: datetime
    samples: tuple[Sample, ...]
