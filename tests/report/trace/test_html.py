"""The page of a trace."""

import re

import pytest

from doctord.analyse.traces.calls_compared import compare
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.trace import folded
from doctord.report.trace.html import render
from report.diagnosis.test_html import Page
from report.examples import HOSTILE
from report.trace.test_terminal import EXAMPLES
from traces import births, call, healthy, listener_after, listener_before, loop, path_part, repetition, target


def page(trace: Trace) -> str:
    return render(trace, diagnose(Dataset(), trace=trace))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_element_is_closed(name: str) -> None:
    assert Page(page(EXAMPLES[name])).tags.count("h1") == 1


def test_it_needs_nothing_from_outside() -> None:
    html = page(listener_before())
    assert "://" not in html
    assert not re.search(r"@import|url\((?!#)", html)
    assert not {"script", "link", "img", "iframe", "object"} & set(Page(html).tags)


def test_the_sections_of_a_full_report() -> None:
    text = " ".join(Page(page(listener_before())).text.split())
    for part in (
        "One pass across processes",
        "Findings",
        "The loop of process 15697",
        "Waits in a pass",
        "Calls",
        "Repeated",
    ):
        assert part in text
    assert "cladm(CL_CONFIG, 17) is called 75 times over, 39 % of each pass" in text
    assert "on the critical path" in text


def test_a_comparison_says_what_changed() -> None:
    before, after = listener_before(), listener_after()
    text = " ".join(Page(render(after, diagnose(Dataset(), trace=after), compare(before, after))).text.split())
    assert "A pass is 33 % shorter: 299.9 ms -> 201.2 ms" in text
    assert '129.8 ms5.0 ms124.8 ms2nd read(16, "...", 64): faster' in text


def test_hostile_text_stays_text() -> None:
    evil = HOSTILE
    trace = healthy(
        about={"files": [evil], "damage": [evil]},
        calls=[call(evil, "other", seconds=5.0)],
        targets=[target(evil)],
        repetitions=[repetition(evil, arguments=evil, role=evil, seconds=5.0)],
        births=[births(role=evil, call=evil, mean_s=1.0)],
        loop=loop(role=evil, path=[path_part(0, evil, evil, 0.1, 0.1, why=evil)]),
    )
    html = page(trace)
    assert "script" not in Page(html).tags
    assert Page(html).text.count("<script>") > 5
    assert "\x1b" not in html


def test_folded_stacks_are_what_flame_graphs_take() -> None:
    assert folded.render(listener_before()) == "15697;fork1 30000\n15697;child;grandchild (oracle);cladm 117000\n"
    assert folded.render(healthy()) == ""
