"""Numbers as tools print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.tools.numbers import number, numbered


@given(value=st.integers(-(10**9), 10**9), digits=st.integers(0, 99), point=st.sampled_from(".,"))
def test_a_printed_number_is_read_back(value: int, digits: int, point: str) -> None:
    text = f"{value}{point}{digits:02}"
    assert number(text) == float(f"{value}.{digits:02}")


@given(value=st.floats(0, 9999).map(lambda v: round(v, 1)), power=st.integers(1, 6))
def test_letters_are_powers_of_1024_or_1000(value: float, power: int) -> None:
    letter = "KMGTPE"[power - 1]
    for text in (f"{value}{letter}", f"{value}{letter}B", f"{value}{letter}iB"):
        assert number(text) == pytest.approx(value * 1024**power)
    assert number(f"{value}{letter}", 1000) == pytest.approx(value * 1000.0**power)


@pytest.mark.parametrize("text", ["-", "--", "N/A", "nan", "-nan"])
def test_what_was_not_measured_is_null(text: str) -> None:
    assert number(text) is None


@given(st.text(max_size=12))
def test_anything_else_is_refused(text: str) -> None:
    try:
        value = number(text)
    except ValueError:
        return
    assert value is None or value == value  # noqa: PLR0124 - never NaN


def test_names_and_figures_must_be_as_many() -> None:
    assert numbered(["r", "b"], ["1", "-"]) == {"r": 1.0, "b": None}
    with pytest.raises(ValueError, match="shorter"):
        numbered(["r", "b"], ["1"])
