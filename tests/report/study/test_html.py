from xml.etree import ElementTree as ET

from doctord.report.study.forest import Mark, svg
from doctord.report.study.html import _on_one_scale, _timeline, render
from report.study.study_examples import better, of_runs


def test_the_page_has_the_verdict_the_forest_and_both_periods() -> None:
    page = render(better())
    assert '<h1 class="healthy">Better</h1>' in page
    assert page.count('class="plot forest"') == 3
    assert "before: database time" in page
    assert "after: database time" in page


def test_a_page_of_runs_needs_no_time() -> None:
    assert "workflow.csv: old / new" in render(of_runs())


def test_marks_stand_left_where_less_was_spent_and_names_are_escaped() -> None:
    marks = [Mark("<b>reads", -5.0, -6.0, -4.0, "better"), Mark("writes", 2.0, None, None, "worse")]
    drawn = ET.fromstring(svg(marks, "ms"))  # noqa: S314 - our own
    first, second = (float(circle.attrib["cx"]) for circle in drawn.iter("circle"))
    axis = next(float(text.attrib["x"]) for text in drawn.iter("text") if text.text == "no difference")
    assert first < axis < second
    assert [text.text for text in drawn.iter("text")][3] == "<b>reads"


def test_both_periods_are_drawn_on_one_scale() -> None:
    periods = better().periods
    assert periods
    plots = _on_one_scale([*_timeline(periods)])
    assert len({plot.highest for plot in plots}) == 1
    assert len({plot.highest for plot in _timeline(periods)}) == 2
