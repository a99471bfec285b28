"""Arithmetic that is shown as it is done: quantities with names and units, and what is worked out of them.

    interval = (size / rate).step("switch interval", "s", "K. Manoharan, 2008")

is both the number and the line `switch interval = log size / redo rate = 500 MB / 9.45 MB/s = 52.91 s`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

# How tightly a sign binds its operands; a function has them in parentheses.
BINDS: Final = {"+": 1, "-": 1, "x": 2, "/": 2}


class Operand:
    """What can stand in a line of arithmetic."""

    value: float

    def __add__(self, other: "Operand | float") -> "Expression":
        """The sum."""
        return _joined("+", self, other, self.value + _of(other).value)

    def __sub__(self, other: "Operand | float") -> "Expression":
        """The difference."""
        return _joined("-", self, other, self.value - _of(other).value)

    def __mul__(self, other: "Operand | float") -> "Expression":
        """The product."""
        return _joined("x", self, other, self.value * _of(other).value)

    def __truediv__(self, other: "Operand | float") -> "Expression":
        """The quotient."""
        return _joined("/", self, other, self.value / _of(other).value)

    def __radd__(self, other: float) -> "Expression":
        """The sum, a plain number first."""
        return Number(other) + self

    def __rsub__(self, other: float) -> "Expression":
        """The difference, a plain number first."""
        return Number(other) - self

    def __rmul__(self, other: float) -> "Expression":
        """The product, a plain number first."""
        return Number(other) * self

    def __rtruediv__(self, other: float) -> "Expression":
        """The quotient, a plain number first."""
        return Number(other) / self


@dataclass(frozen=True, slots=True)
class Number(Operand):
    """A constant of a formula, with its unit where it has one."""

    value: float
    unit: str = "count"


@dataclass(frozen=True, slots=True)
class Quantity(Operand):
    """A figure with a name and a unit (`bytes`, `bytes_per_s`, `s`, `per_s`, `share`, `count`)."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Given(Quantity):
    """A figure that the user gives or that was measured; `origin` says which of them, and where."""

    origin: str


@dataclass(frozen=True, slots=True)
class Assumed(Quantity):
    """A figure that nobody gave; `because` is why it is this."""

    because: str


@dataclass(frozen=True, slots=True)
class Expression(Operand):
    """Operands under a sign, with what comes of them."""

    sign: str
    parts: tuple[Operand, ...]
    value: float

    def step(self, name: str, unit: str, source: str = "") -> "Step":
        """What comes of it, under a name, as a step of the working; `source` is whose formula it is."""
        return Step(name, self.value, unit, self, source)


@dataclass(frozen=True, slots=True)
class Step(Quantity):
    """One line of arithmetic, and a figure for the next."""

    expression: Expression
    source: str

    def written(self, leaf: Callable[[Quantity | Number], str]) -> str:
        """The right side of the line, with quantities written by `leaf`: their names, say, or their figures."""
        return _written(self.expression, leaf, 0)

    def quantities(self) -> Iterator[Quantity]:
        """The quantities that it is made of, in the order in which they stand."""
        return _quantities(self.expression)


def round_up(part: Operand) -> Expression:
    """The next whole number; a rounding error of the computer does not count as a part of one.

    >>> round_up(Number(0.3) / 0.1).value
    3.0
    """
    return Expression("round up", (part,), float(math.ceil(part.value - 1e-12 * abs(part.value))))


def round_down(part: Operand) -> Expression:
    """The whole number at or below a quantity; one within rounding of the next whole number is that."""
    return Expression("round down", (part,), float(math.floor(part.value + 1e-12 * abs(part.value))))


def larger(one: Operand, other: Operand) -> Expression:
    """The larger of two quantities of the same unit."""
    return Expression("larger of", (one, other), max(one.value, other.value))


def smaller(one: Operand, other: Operand) -> Expression:
    """The smaller of two quantities of the same unit."""
    return Expression("smaller of", (one, other), min(one.value, other.value))


def root(part: Operand) -> Expression:
    """The square root of a quantity that is not negative."""
    return Expression("root", (part,), math.sqrt(part.value))


def log2(part: Operand) -> Expression:
    """The logarithm of a positive quantity to the base 2."""
    return Expression("log2", (part,), math.log2(part.value))


def ln(part: Operand) -> Expression:
    """The natural logarithm of a positive quantity."""
    return Expression("ln", (part,), math.log(part.value))


def _of(part: Operand | float) -> Operand:
    return part if isinstance(part, Operand) else Number(part)


def _joined(sign: str, one: Operand, other: Operand | float, value: float) -> Expression:
    return Expression(sign, (one, _of(other)), value)


def _written(part: Operand, leaf: Callable[[Quantity | Number], str], binds: int) -> str:
    if not isinstance(part, Expression):
        assert isinstance(part, Quantity | Number)  # noqa: S101 - there is no other operand
        return leaf(part)
    if part.sign not in BINDS:
        return f"{part.sign} ({', '.join(_written(one, leaf, 0) for one in part.parts)})"
    own = BINDS[part.sign]
    # What stands behind a minus or a division keeps its parentheses at the same level too.
    left, right = (_written(one, leaf, own + at) for at, one in enumerate(part.parts))
    text = f"{left} {part.sign} {right}"
    return f"({text})" if own < binds else text


def _quantities(part: Operand) -> Iterator[Quantity]:
    if isinstance(part, Quantity):
        yield part
    if isinstance(part, Expression):
        for one in part.parts:
            yield from _quantities(one)
