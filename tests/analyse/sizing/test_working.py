import math

import pytest
from hypothesis import given as holds
from hypothesis import strategies as st

from doctord.analyse.sizing.working import (
    Expression,
    Number,
    Operand,
    Quantity,
    larger,
    ln,
    log2,
    root,
    round_down,
    round_up,
    smaller,
)
from sizes import given

NUMBERS = st.floats(min_value=0.001, max_value=1e6).map(lambda value: given(value, name=repr(value)))


@st.composite
def expressions(draw: st.DrawFn) -> Expression:
    one, other, third, fourth = (draw(NUMBERS) for _ in range(4))
    signs = st.sampled_from("+-*/")
    parts: list[Operand] = [one, other, third, fourth]
    while len(parts) > 1:
        at = draw(st.integers(0, len(parts) - 2))
        left, right = parts.pop(at), parts.pop(at)
        parts.insert(at, joined(draw(signs), left, right))
    assert isinstance(parts[0], Expression)
    return parts[0]


def joined(sign: str, left: Operand, right: Operand) -> Operand:
    if sign == "/" and right.value == 0:
        sign = "+"
    return {"+": left + right, "-": left - right, "*": left * right}.get(sign) or left / right


@holds(expressions())
def test_what_is_shown_is_what_is_worked_out(expression: Expression) -> None:
    text = expression.step("it", "count").written(lambda part: repr(part.value))
    assert eval(text.replace(" x ", " * ")) == pytest.approx(expression.value, rel=1e-12)  # noqa: S307 - our own text


def test_parentheses_stand_only_where_they_must() -> None:
    a, b = given(6, name="a"), given(3, name="b")

    def words(part: Quantity | Number) -> str:
        return part.name if isinstance(part, Quantity) else str(part.value)

    assert ((a + b) * a / (b * a)).step("", "").written(words) == "(a + b) x a / (b x a)"
    assert (a - (b - a) - b).step("", "").written(words) == "a - (b - a) - b"
    assert (1 / (1 - b)).step("", "").written(words) == "1 / (1 - b)"
    assert larger(a, round_up(b / 2)).step("", "").written(words) == "larger of (a, round up (b / 2))"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (round_up(Number(0.3) / 0.1), 3),
        (round_up(Number(3.01)), 4),
        (round_down(Number(0.3) / 0.1), 3),
        (round_down(Number(2.99)), 2),
        (larger(Number(1), Number(2)), 2),
        (smaller(Number(1), Number(2)), 1),
        (root(Number(9)), 3),
        (log2(Number(8)), 3),
        (ln(Number(math.e)), 1),
        (2 + Number(1), 3),
        (3 - Number(1), 2),
        (2 * Number(3), 6),
        (6 / Number(3), 2),
    ],
)
def test_functions_and_plain_numbers(expression: Expression, value: float) -> None:
    assert expression.value == pytest.approx(value)
