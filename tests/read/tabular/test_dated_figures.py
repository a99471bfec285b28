"""Two columns of dates and figures."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.formats import read_file
from doctord.read.tabular.dated_figures import LINE, NO_DATE, NO_FIGURE, ORDER_ASSUMED, YEAR_ASSUMED, sniff
from latency_files import reasons
from oracle_files import frame, read_lines
from shared import CORPUS, sample


def dates(tmp_path: Path, *lines: str) -> list[str]:
    return [str(ts)[:16] for ts in frame(read_lines(tmp_path, *lines), "statistic")["ts"]]


@pytest.mark.parametrize(
    "lines",
    [
        ("2008-01-30\t5.25", "2008-01-31\t6"),
        ("1/30/2008,5.25", "1/31/2008,6"),
        ("30.01.2008;5,25", "31.01.2008;6,0"),
        ('"30/01/2008"  "5.25"', '"31/01/2008"  "6"'),
        ("30-Jan-2008 5.25", "31-Jan-2008 6"),
        ("2008-01-30 00:00 5.25", "2008-01-31 00:00:00 6"),
    ],
)
def test_every_way_to_write_a_date(tmp_path: Path, lines: tuple[str, ...]) -> None:
    reading = read_lines(tmp_path, "Day,CPU used", *lines)
    found = frame(reading, "statistic")
    assert [str(ts)[:16] for ts in found["ts"]] == ["2008-01-30 00:00", "2008-01-31 00:00"]
    assert found["value"].to_list() == [5.25, 6.0]
    assert found.select("name", "entity", "component").unique().rows() == [("CPU used", "file", "table")]
    assert reasons(reading) == []


def test_of_dates_that_may_be_both_the_day_is_what_changes(tmp_path: Path) -> None:
    assert dates(tmp_path, "1/2/2008 1", "1/3/2008 2", "1/4/2008 3") == [f"2008-01-0{day} 00:00" for day in (2, 3, 4)]
    assert dates(tmp_path, "1/2/2008 1", "2/2/2008 2", "3/2/2008 3") == [f"2008-02-0{day} 00:00" for day in (1, 2, 3)]
    reading = read_lines(tmp_path, "1/2/2008 1", "2/2/2008 2")
    assert reading.notes == [ORDER_ASSUMED.format(first="the day")]


def test_without_a_year_the_last_is_no_later_than_the_file(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "30-Dec 1", "31-Dec 2", "1-Jan 3")  # a file of 1970-01-01
    assert [str(ts)[:10] for ts in frame(reading, "statistic")["ts"]] == ["1969-12-30", "1969-12-31", "1970-01-01"]
    assert reading.notes == [YEAR_ASSUMED.format(year=1970)]
    assert dates(tmp_path, "1-Jul 1", "2-Jul 2")[0] == "1969-07-01 00:00"


def test_what_is_none_is_told(tmp_path: Path) -> None:
    good = [f"2008-02-{day}\t{day}" for day in range(10, 20)]
    reading = read_lines(tmp_path, "Date\tValue", *good, "2008-02-30\t2", "2008-02-29\tN/A", "2008-03-01\t3")
    assert frame(reading, "statistic")["value"].to_list() == [*range(10, 20), 3.0]
    assert reasons(reading) == [NO_FIGURE, NO_DATE]


@pytest.mark.parametrize(
    "head", ["2008-01-01,5,2\n2008-01-02,6,2\n", "a b\nc d\n", "2008-01-01 started\n2008-01-02 ended\n", "1,2\n3,4\n"]
)
def test_other_texts_are_not_taken(head: str) -> None:
    assert not sniff(head)


@given(st.dates(date(1970, 1, 2), date(2099, 12, 31)), st.decimals(-(10**6), 10**6, places=3))
def test_any_date_and_figure_is_found(day: date, figure: object) -> None:
    found = LINE.match(f"{day.isoformat()}\t{figure}")
    assert found is not None
    assert (int(found["year"]), int(found["month"]), int(found["day"])) == (day.year, day.month, day.day)
    assert float(found["other"]) == pytest.approx(float(str(figure)))


@pytest.mark.parametrize(
    ("name", "first", "rows"),
    [
        ("clusterwide", ("CPU_AAS", 31.89), 61),
        ("data", ("data", 4.804), 2863),
        *((f"node{node}", ("Value", value), 61) for node, value in enumerate((9.60, 9.75, 5.74, 6.81), 1)),
    ],
)
def test_the_samples_are_read_whole(name: str, first: tuple[str, float], rows: int) -> None:
    file = sample(CORPUS / f"forecast/karlarao_{name}.txt")
    reading = read_file(file, zone="UTC")
    found = frame(reading, "statistic")
    text = [line.split("\t") for line in file.read_text().splitlines()[1:]]
    assert found["value"].to_list() == [float(figure) for _, figure in text]
    assert (found["name"][0], found["value"][0], found.height) == (*first, rows)
    assert reading.skipped_lines == 0
    assert found["ts"].is_sorted()
    step = found["ts"].diff().drop_nulls()
    assert step.median() == timedelta(days=1)


def test_the_order_of_the_sample_is_month_first() -> None:
    reading = read_file(sample(CORPUS / "forecast/karlarao_data.txt"), zone="UTC")
    assert frame(reading, "statistic")["ts"][0] == datetime(2008, 1, 1, tzinfo=UTC)
    assert reading.notes == []
