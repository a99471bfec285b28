"""What tests of questions of size share: figures by hand, and steps by name."""

from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.working import Given, Step

GIB = 2.0**30
MIB = 2.0**20


def given(value: float, unit: str = "count", name: str = "figure") -> Given:
    """A figure as an option gives it."""
    return Given(name, value, unit, "--test")


def step(sizing: Sizing, name: str) -> Step:
    """The step of that name."""
    return next(one for one in sizing.steps if one.name == name)
