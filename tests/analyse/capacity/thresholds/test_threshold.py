"""Thresholds as data."""

import pytest

from doctord.analyse.capacity.series import Labels
from doctord.analyse.capacity.thresholds.threshold import Rules, Threshold, parsed
from doctord.errors import UserError
from histories import FIGURES, history

GOOD = """
[[threshold]]
name = "busy"
figure = "disk_util_pct"
entity = "sd*"
limit = 80
hold = "30m"
reason = "requests queue"
source = "a book"
plan = { text = "add a disk", owner = "storage", lead = "14d" }
"""


def read(text: str) -> Rules:
    return parsed(text, "my.toml", FIGURES.values())


def test_a_threshold_says_what_it_is() -> None:
    (busy,) = read(GOOD).thresholds
    assert (busy.limit, busy.worse, busy.hold_s) == (80.0, "above", 1800.0)
    assert (busy.plan.text, busy.plan.owner, busy.plan.lead_s) == ("add a disk", "storage", 14 * 86_400)


def test_the_bad_side_is_that_of_the_figure_unless_it_is_said() -> None:
    text = '[[threshold]]\nname = "m"\nfigure = "memory_available_bytes"\nlimit = 1e9\n'
    assert read(text).thresholds[0].worse == "below"
    assert read(text + 'worse = "above"\n').thresholds[0].worse == "above"


def test_patterns_choose_whom_it_concerns() -> None:
    busy = Threshold("busy", "disk_util_pct", 80.0, host="db[12]", entity="sd*")
    assert busy.concerns(history([], "disk_util_pct", Labels("db1", None, "sda")))
    assert not busy.concerns(history([], "disk_util_pct", Labels("db3", None, "sda")))
    assert not busy.concerns(history([], "disk_util_pct", Labels("db1", None, "nvme0n1")))
    assert not busy.concerns(history([], "disk_read_ms", Labels("db1", None, "sda")))


def test_hours_of_the_week_have_their_own_limit_and_the_most_lenient_stands_for_all() -> None:
    days = "[[" + "], [".join(", ".join(["5"] * 23 + [str(90 + day)]) for day in range(7)) + "]]"
    (busy,) = read(GOOD.replace("limit = 80", f"by_hour = {days}")).thresholds
    assert (busy.by_hour[0], busy.by_hour[23], busy.by_hour[167], busy.limit) == (5.0, 90.0, 96.0, 96.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "busy"', 'name = "busy', "no TOML"),
        ('name = "busy"', "", "threshold 'without a name': without 'name'"),
        ('name = "busy"', "name = 3", "name is 3, no text"),
        ('"disk_util_pct"', '"disk_utl_pct"', "there is no figure 'disk_utl_pct'"),
        ("limit = 80", "", "threshold 'busy': without 'limit'"),
        ("limit = 80", 'limit = "80"', "limit is '80', no number"),
        ("limit = 80", "limit = nan", "limit is nan, no number"),
        ("limit = 80", "limit = true", "limit is True, no number"),
        ("limit = 80", "limit = 80\nlimti = 3", "there is no key 'limti'"),
        ("limit = 80", 'limit = 80\nworse = "over"', "worse is 'over'"),
        ("limit = 80", "by_hour = [1, 2]", "by_hour has 2 numbers, not 168"),
        ('"30m"', '"30 fortnights"', "hold: '30 fortnights' is no duration"),
        ('lead = "14d"', 'leed = "14d"', "plan has no key 'leed'"),
        ('lead = "14d"', 'lead = "soon"', "plan: lead: 'soon' is no duration"),
        (
            'plan = { text = "add a disk", owner = "storage", lead = "14d" }',
            'plan = "pray"',
            "plan is 'pray', no table",
        ),
        ("[[threshold]]", "[[treshold]]", "there is no table 'treshold'"),
        ("[[threshold]]", "[threshold]", "threshold is no array of tables"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(UserError) as refusal:
        read(GOOD.replace(old, new, 1))
    assert message in str(refusal.value)
    assert "my.toml" in str(refusal.value)
    assert refusal.value.hint


def test_a_figure_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(UserError) as refusal:
        read(GOOD.replace("disk_util_pct", "disk_utl_pct"))
    assert refusal.value.hint == "did you mean disk_util_pct?"


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match="two of that name"):
        read(GOOD * 2)


def test_a_file_may_bring_figures_of_its_own() -> None:
    own = GOOD.replace("disk_util_pct", "scans") + (
        '[[figure]]\nname = "scans"\ntitle = "pages scanned"\ncomponent = "host memory"\ntable = "memory"\n'
        'value = "scan_per_s"\nunit = "per_s"\n'
    )
    assert [figure.name for figure in read(own).figures_used()] == ["scans"]
