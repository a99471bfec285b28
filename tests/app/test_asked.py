"""The time that is asked for, beside what was measured."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from doctord.app.asked import Interval, placed, read_options
from doctord.app.source import Files, Recorded
from doctord.dataset.rows import micros, rows
from doctord.errors import UserError
from doctord.lake.writer import LakeWriter
from doctord.moments import asked_moment
from doctord.read.source import ReadOptions
from heard import Heard

TEN = datetime(2026, 11, 20, 10, tzinfo=UTC)
ENDED = datetime(2024, 3, 2, 10, tzinfo=UTC)


def asked(since: str | None = None, until: str | None = None) -> Interval:
    return Interval(*(asked_moment(text) if text else None for text in (since, until)))


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("09:30", None, ("02 09:30", None)),
        ("10:00", None, ("02 10:00", None)),  # the end itself
        ("10:01", None, ("01 10:01", None)),
        ("09:30", "10:30", ("02 09:30", "02 10:30")),  # the end is after what was measured, and of the same day
        ("22:00", "02:00", ("01 22:00", "02 02:00")),  # over midnight
        (None, "09:30", (None, "02 09:30")),
        ("2024-02-28T22:00", "02:00", ("28 22:00", "02 02:00")),
        ("12:30+02:00", None, ("01 10:30", None)),
    ],
)
def test_a_time_of_day_is_the_last_before_the_end(
    since: str | None, until: str | None, expected: tuple[str | None, str | None]
) -> None:
    heard = Heard()
    found = asked(since, until).placed(lambda: ENDED, heard)
    assert tuple(f"{moment:%d %H:%M}" if moment else None for moment in found) == expected
    assert len(heard.notes) == sum(":" in (text or "")[:3] for text in (since, until))
    assert all("UTC is taken, for what was measured ends 2024-03-02 10:00:00 UTC" in note for note in heard.notes)


def test_what_ends_today_is_asked_by_the_clock() -> None:
    now, heard = datetime.now(UTC), Heard()
    time_of_day = asked_moment(f"{now + timedelta(minutes=2):%H:%M}")
    for ended in (now + timedelta(minutes=5), None):
        moment = placed(time_of_day, ended, heard)
        assert moment
        assert timedelta(0) <= now - moment < timedelta(days=1)
    assert heard.notes == []


@pytest.mark.parametrize("text", ["yesterday", "2 hours ago", "-2h", "now", "today", "today 00:00"])
def test_words_that_are_said_of_now_count_from_now(text: str) -> None:
    moment = placed(asked_moment(text), ENDED)
    assert moment
    assert datetime.now(UTC) - moment < timedelta(days=2)


def test_an_end_that_is_no_later_is_refused() -> None:
    for since, until in (("09:30", "09:30"), ("2024-03-03", "2024-03-02")):
        with pytest.raises(UserError, match="is not before"):
            asked(since, until).placed(lambda: ENDED)


def test_nobody_looks_for_the_end_where_no_time_of_day_is_asked_for() -> None:
    def looked() -> datetime | None:
        raise AssertionError

    assert asked("2024-03-02").placed(looked) == (datetime(2024, 3, 2, tzinfo=UTC), None)


def figures(folder: Path, hosts: dict[str, datetime]) -> list[Path]:
    """A file of figures of each host, of ten minutes that end then."""
    for host, end in hosts.items():
        lines = [f"{end - timedelta(minutes=minute):%F %T},60,{host},50.0" for minute in range(10)]
        (folder / f"cpu.{host}.csv").write_text("\n".join(["ts,interval_s,host,idle_pct", *lines, ""]))
    return sorted(folder.iterdir())


def test_files_of_another_day(tmp_path: Path) -> None:
    heard = Heard()
    files = Files(figures(tmp_path, {"a": ENDED, "b": ENDED - timedelta(days=2)}))
    (seen,) = files.each(asked("09:55"), heard)
    assert (set(seen.dataset.frame("cpu")["host"]), seen.dataset.frame("cpu").height) == ({"a"}, 5)
    assert sum("09:55: 2024-03-02 09:55:00 UTC is taken" in note for note in heard.notes) == 1


def test_a_lake_of_another_day(tmp_path: Path) -> None:
    cpu = [
        {"ts": micros(ENDED - timedelta(minutes=minute)), "interval_s": 60.0, "host": "a", "idle_pct": 50.0}
        for minute in range(10)
    ]
    with LakeWriter(tmp_path / "lake") as writer:
        writer.append(rows("cpu", cpu))
    heard = Heard()
    assert Recorded(tmp_path / "lake").seen(asked("09:55"), heard).dataset.frame("cpu").height == 5
    taken = "2024-03-02 09:55:00 UTC is taken, for what was measured ends 2024-03-02 10:00:00 UTC"
    assert heard.notes == [f"09:55: {taken}"]
    assert Recorded(tmp_path / "lake").seen(asked(None, "09:56")).dataset.frame("cpu").height == 6, "the hour to it"


def test_an_interval_has_ends_that_may_be_missing() -> None:
    since, until = Interval.asked("2026-11-20T10:00Z", None), Interval.asked(None, "2026-11-20T10:00Z")
    assert (since.since, since.until) == (TEN, None)
    assert (until.since, until.until) == (None, TEN)


@pytest.mark.parametrize("until", ["2026-11-20T10:00Z", "2026-11-20T09:00Z"])
def test_an_interval_ends_after_it_begins(until: str) -> None:
    with pytest.raises(UserError, match="2026-11-20T10:00Z is not before"):
        Interval.asked("2026-11-20T10:00Z", until)


def test_what_is_said_of_files_is_read_and_else_null() -> None:
    said = read_options("+02:00", "2026-11-20", "5s", "10ms", is_verbose=True)
    assert said == ReadOptions(timezone(timedelta(hours=2)), 10_000.0, date(2026, 11, 20), 5.0, is_verbose=True)
    assert read_options(None, None, None, None) == ReadOptions()


@pytest.mark.parametrize(
    "said", [("Europe/Pari",), (None, "2026-13-40"), (None, None, "often"), (None, None, None, "x")]
)
def test_what_is_said_of_files_is_refused_where_it_is_not_of_its_form(said: tuple[str | None, ...]) -> None:
    with pytest.raises(UserError):
        read_options(*(*said, None, None, None)[:4])
