"""The longest time on end in which something was so."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from doctord.analyse.spells import held, longest

START = datetime(2026, 11, 20, tzinfo=UTC)
FULL = pl.col("full")


def rows(*steps: tuple[int, bool | None], device: str = "sda") -> pl.DataFrame:
    """Rows of 600 s that end so many minutes after the start, and whether something was so."""
    return pl.DataFrame(
        [
            {"device": device, "ts": START + timedelta(minutes=minute), "interval_s": 600.0, "full": full}
            for minute, full in steps
        ],
        schema={"device": pl.String, "ts": pl.Datetime("us", "UTC"), "interval_s": pl.Float64, "full": pl.Boolean},
    )


@pytest.mark.parametrize(
    ("steps", "longest_s"),
    [
        ([(10, True), (20, True), (30, True)], 1800.0),
        ([(10, True), (20, False), (30, True), (40, True)], 1200.0),
        ([(10, True), (20, None), (30, True)], 600.0),
        ([(10, True), (1450, True), (2890, True)], 600.0),  # ten minutes of three nights
        ([(10, False)], None),
    ],
)
def test_a_gap_ends_a_time_as_a_row_does_that_is_not_so(steps: list[tuple[int, bool]], longest_s: float | None) -> None:
    assert longest(rows(*steps), FULL)["longest_s"].item() == longest_s


def test_each_device_has_its_own() -> None:
    both = pl.concat([rows((10, True), (20, True)), rows((10, True), (20, False), (30, False), device="sdb")])
    assert longest(both, FULL, "device").rows() == [("sda", 1200.0), ("sdb", 600.0)]


def test_how_much_of_the_time_and_whether_it_lasts() -> None:
    late = rows((10, False), (20, None), (30, False), (40, True))
    short = rows((10, False), (20, False), (30, False), (40, False), (50, True), device="sdb")
    never = rows((10, False), device="sdc")
    found = held(pl.concat([late, short, never]), FULL, "device")
    assert found.rows() == [("sda", 0.25, 600.0, True), ("sdb", 0.2, 600.0, False)]
    on_end = rows(*((10 * number, number > 18) for number in range(1, 21)))
    assert held(on_end, FULL).rows() == [(0.1, 1200.0, True)]
