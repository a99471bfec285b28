"""A question of size: the figures that it needs, and the answer with its working."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from doctord.analyse.sizing.working import Assumed, Given, Quantity, Step
from doctord.units import MIB


@dataclass(frozen=True, slots=True)
class Input:
    """A figure that a question needs.

    Attributes:
        option: How the command line calls it, without dashes before it.
        name: What it is, in words; what a dataset may hold of it is found by this name (see `measured`).
        unit: Its unit. A curve (points of one figure against another) has two: `per_s s`.
        help: What the user is told of it, with an example.
        needed: Whether there is no answer without it.
        assumed: What it is taken for where nobody gives it; null: nothing.
        because: Why it is taken for that.
        zero: Whether it may be 0.
        below: What it must stay below; null: only what any machine has.
    """

    option: str
    name: str
    unit: str
    help: str
    needed: bool = True
    assumed: float | None = None
    because: str = ""
    zero: bool = False
    below: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A measured figure against another: points in rising order of the first, with where they come from."""

    name: str
    points: tuple[tuple[float, float], ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting should be: its name, its value as it is written, and what is to be known of it."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sizing:
    """An answer with its working.

    Attributes:
        answer: The answer, in a sentence or two.
        steps: The arithmetic, in order.
        settings: What follows for settings.
        cautions: What to know before it is believed.
        fits: Whether what is there now, or what is asked for, fits the answer; null where nothing was held against it.
    """

    answer: str
    steps: tuple[Step, ...]
    settings: tuple[Setting, ...] = ()
    cautions: tuple[str, ...] = ()
    fits: bool | None = None

    @property
    def given(self) -> tuple[Given, ...]:
        """The figures that the working rests on, each once, as they are met."""
        return tuple(one for one in self._met() if isinstance(one, Given))

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """The figures that were taken for granted."""
        return tuple(one for one in self._met() if isinstance(one, Assumed))

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose formulas these are, each once, in order."""
        return tuple(dict.fromkeys(step.source for step in self.steps if step.source))

    def _met(self) -> Iterator[Quantity]:
        return iter(dict.fromkeys(quantity for step in self.steps for quantity in step.quantities()))


@dataclass(frozen=True, slots=True)
class Question:
    """A question of size.

    Attributes:
        name: How the command line calls it.
        asks: The question, in a sentence.
        inputs: What it needs.
        work: Answers it; takes each figure by the name of its option (`_` for `-`), null for what is not known.
    """

    name: str
    asks: str
    inputs: tuple[Input, ...]
    work: Callable[..., Sizing]


def uneven(size: Quantity) -> str | None:
    """What to say of memory that is no whole number of MiB: it was counted in decimal units, most likely."""
    if not isinstance(size, Given) or size.value % MIB == 0:
        return None
    return f"The {size.name} is no whole number of MiB: was it counted in thousands? A GB is 1024 x 1024 x 1024 here."


def known(*steps: Step | None) -> tuple[Step, ...]:
    """The steps of a working without those that could not be made, which are null."""
    return tuple(step for step in steps if step is not None)


def given_lines(*lines: str | float | bool | None) -> tuple[str, ...]:
    """The lines that are text: a condition that does not hold leaves false, null or 0 in the place of its line."""
    return tuple(line for line in lines if isinstance(line, str))
