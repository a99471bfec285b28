"""Units: how figures are read and written, and that both mean the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord import units
from doctord.errors import UserError
from doctord.units import GIB, MIB, number, parse, quantity, setting_number


@pytest.mark.parametrize(
    "text", ["8G", "8GB", "8GiB", "8g", "8gb", " 8 GiB ", "8.0GB", "8192M", "8589934592", "8589934592B"]
)
def test_a_size_is_binary_however_it_is_written(text: str) -> None:
    assert parse(text, "bytes") == 8 * GIB
    assert units.parse_size(text) == 8 * GIB
    assert setting_number(text, "bytes") == 8 * GIB


def test_m_is_what_is_asked_for() -> None:
    assert parse("5m", "bytes") == 5 * MIB
    assert parse("5m", "s") == 300
    assert (setting_number("5m", "8kB"), setting_number("5m", "ms"), setting_number("5M")) == (5 * MIB, 300, 5 * MIB)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("9.45MB/s", "bytes_per_s", 9.45 * MIB),
        ("60GiB/min", "bytes_per_s", GIB),
        ("512", "bytes_per_s", 512.0),
        ("500/s", "per_s", 500.0),
        ("1_200/h", "per_s", 1 / 3),
        ("300ms", "s", 0.3),
        ("1h 30m", "s", 5400.0),
        ("1h30", "s", 3630.0),
        ("7d", "s", 604_800.0),
        ("20", "s", 20.0),
        ("70%", "share", 0.7),
        ("0.7", "share", 0.7),
        ("2_000", "count", 2000.0),
    ],
)
def test_a_figure_is_read_in_its_unit(text: str, unit: str, value: float) -> None:
    assert parse(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("", "bytes", "is no size"),
        ("-5MB", "bytes", "is no size"),
        ("8 gigs", "bytes", "is no size"),
        ("8GB", "s", "is no duration"),
        ("5M", "s", "is no duration"),
        ("5 5", "s", "is no duration"),
        ("-5s", "s", "is no duration"),
        ("soon", "s", "is no duration"),
        ("9" * 400, "s", "is no duration"),
        ("5MB/fortnight", "bytes_per_s", "is no rate"),
        ("5min/s", "bytes_per_s", "is no rate"),
        ("5MB/s", "per_s", "is no rate"),
        ("1.5", "count", "is no whole number"),
        ("120%", "share", "is no part of a whole"),
        ("7s", "share", "is no part of a whole"),
    ],
)
def test_what_is_none_is_refused_with_a_hint(text: str, unit: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        parse(text, unit)
    assert refused.value.hint.startswith("write ")


@pytest.mark.parametrize(
    ("value", "unit", "read"),
    [
        ("16384", "8kB", 128 * MIB),
        ("-1", "kB", -1024),
        ("5min", "ms", 300),
        ("1.5G", None, 1.5 * GIB),
        ("10d", None, 864_000),
        ("200", "pages", 200),
        ("70%", None, None),
        ("5min", "kB", None),
        ("8GB", "s", None),
        ("on", None, None),
    ],
)
def test_a_setting_is_a_number_of_its_units_kind(value: str, unit: str | None, read: float | None) -> None:
    assert setting_number(value, unit) == read


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (2_097_152_000.0, "bytes", "1.95 GiB"),
        (0.0, "bytes", "0 B"),
        (1023.7 * 1024, "bytes", "1 MiB"),
        (1.5 * MIB, "bytes_per_s", "1.5 MiB/s"),
        (81.53, "%", "81.5 %"),
        (12_345.0, "per_s", "12,345 /s"),
        (415_219.0, "blocks_per_s", "415 k blocks/s"),
        (-3.5 * 1024 * GIB, "bytes", "-3.5 TiB"),
        (90.0, "s", "90 s"),
        (300.0, "s", "5 min"),
        (7.0, "", "7"),
        (None, "ms", "-"),
    ],
)
def test_a_quantity(value: float | None, unit: str, said: str) -> None:
    assert quantity(value, unit) == said


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.1234, "0.123"), (12.345, "12.3"), (999.7, "1,000"), (12345, "12,345"), (1e-5, "0.00001")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.25, "250 ms"),
        (1.25, "1.25 s"),
        (20, "20 s"),
        (60, "1 min"),
        (3_905, "1 h 5 min"),
        (3_600, "1 h"),
        (90_000, "1 d 1 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float, words: str) -> None:
    assert units.duration(seconds) == words


@given(st.floats(min_value=1, max_value=1e15))
def test_a_size_that_was_written_is_read_as_the_same(count: float) -> None:
    assert parse(units.in_bytes(count), "bytes") == pytest.approx(count, rel=0.51)
    assert parse(units.in_bytes(count * 1024), "bytes") == pytest.approx(count * 1024, rel=0.051)


@given(st.floats(min_value=0.001, max_value=1e9))
def test_a_length_of_time_that_was_written_is_read_as_the_same(seconds: float) -> None:
    assert parse(units.duration(seconds), "s") == pytest.approx(seconds, rel=0.06)
