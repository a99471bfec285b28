from xml.etree.ElementTree import Element, fromstring

import pytest

from doctord.report.plot import HEIGHT, LEFT, RIGHT, WIDTH, Plot, described, gaps, svg, ticks, time_ticks
from doctord.report.series import Series, Step


def steps(*values: float | None) -> tuple[Step, ...]:
    """One step per second from 1000 on; none where the value is null."""
    return tuple(Step(1000.0 + i, 1001.0 + i, v, v, v) for i, v in enumerate(values) if v is not None)


def plot(*series: Series, stacked: bool = False, limit: tuple[str, float] | None = None) -> Plot:
    return Plot("Title", "ms", series, 1000.0, 1004.0, stacked, limit)


def drawn(shown: Plot) -> Element:
    return fromstring(svg(shown))  # noqa: S314 - made here


def of_class(root: Element, name: str) -> list[Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def test_a_gap_is_a_break_in_the_line_and_shaded() -> None:
    root = drawn(plot(Series("a", steps(1.0, 2.0, None, 2.0), 0)))
    (line,) = of_class(root, "line")
    assert line.get("d", "").count("M") == 2
    (gap,) = of_class(root, "gap")
    inside = WIDTH - LEFT - RIGHT
    assert float(gap.get("x", "")) == pytest.approx(LEFT + inside / 2, abs=0.1)
    assert float(gap.get("width", "")) == pytest.approx(inside / 4, abs=0.1)


def test_a_measured_zero_is_no_gap() -> None:
    shown = plot(Series("a", steps(1.0, 0.0, 0.0, 1.0), 0))
    assert gaps(shown) == []
    assert "M" in of_class(drawn(shown), "line")[0].get("d", "")


def test_what_is_missing_at_either_end_is_a_gap() -> None:
    assert gaps(plot(Series("a", steps(None, 1.0, 1.0, None), 0))) == [(1000.0, 1001.0), (1003.0, 1004.0)]


def test_a_stack_ends_at_the_sum_of_its_layers() -> None:
    stack = plot(Series("a", steps(1.0, 1.0), 0), Series("b", steps(3.0, 1.0), 1), stacked=True)
    assert stack.highest == 4.0
    upper = of_class(drawn(stack), "layer")[1].get("d", "")
    assert f"V{stack.y(4.0):.1f}" in upper
    assert upper.startswith(f"M{LEFT:.1f} {stack.y(1.0):.1f}")


def test_a_stack_breaks_at_a_gap() -> None:
    root = drawn(plot(Series("a", steps(1.0, None, 1.0, 1.0), 0), stacked=True))
    assert of_class(root, "layer")[0].get("d", "").count("Z") == 2


def test_the_longest_value_beside_the_axis_is_whole() -> None:
    small, large = plot(Series("a", steps(1.0, 2.0), 0)), plot(Series("a", steps(250_000.0, 10.0), 0))
    assert small.left == LEFT
    letters_on_a_phone = 9.5 * len("200,000")
    (label,) = (text for text in drawn(large).iter("text") if text.text == "200,000")
    assert float(label.get("x", "")) >= letters_on_a_phone


def test_a_limit_far_above_does_not_flatten_the_plot() -> None:
    low = Series("a", steps(1.0, 2.0), 0)
    near, far = plot(low, limit=("CPUs", 4.0)), plot(low, limit=("CPUs", 64.0))
    assert len(of_class(drawn(near), "limit")) == 1
    assert near.top >= 4
    assert of_class(drawn(far), "limit") == []
    assert far.top == 2.0


def test_thinned_steps_show_their_extremes() -> None:
    root = drawn(plot(Series("a", (Step(1000, 1004, 1.0, 2.0, 9.0),), 0)))
    assert len(of_class(root, "band")) == 1
    assert plot(Series("a", (Step(1000, 1004, 1.0, 2.0, 9.0),), 0)).top >= 9


def test_nothing_is_drawn_outside() -> None:
    late = Series("a", (Step(900.0, 1100.0, 0.0, 5.0, 5.0),), 0)
    shown = plot(late)
    assert shown.x(900.0) == LEFT
    assert shown.x(1100.0) == WIDTH - RIGHT
    assert 0 < shown.y(shown.top) < shown.y(0) < HEIGHT


def test_words_for_who_cannot_see_it() -> None:
    shown = plot(Series("a", steps(1.0, 3.0), 0), limit=("CPUs", 2.0))
    assert described(shown) == "Title, ms. a: mean 2, highest 3; CPUs: 2."
    root = drawn(shown)
    assert root.get("role") == "img"
    assert [root[0].text, root[1].text] == ["Title", described(shown)]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (0, [0, 1]),
        (1, [0, 0.5, 1]),
        (4, [0, 1, 2, 3, 4]),
        (14, [0, 5, 10, 15]),
        (100, [0, 50, 100]),
        (0.03, [0, 0.01, 0.02, 0.03]),
    ],
)
def test_ticks_are_round_and_reach_the_top(most: float, expected: list[float]) -> None:
    assert ticks(most) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (20, ["22:00:00", "22:00:05", "22:00:10", "22:00:15"]),
        (3600, ["22:00", "22:15", "22:30", "22:45"]),
        (3 * 86_400, ["Nov 21", "Nov 22", "Nov 23"]),
    ],
)
def test_time_ticks_are_round_in_utc(seconds: float, labels: list[str]) -> None:
    since = 1_795_212_000.0
    assert [label for _, label in time_ticks(since, since + seconds)] == labels
