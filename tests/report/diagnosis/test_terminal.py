import re
import sys
from dataclasses import replace

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from doctord.report.diagnosis.terminal import render
from report import examples


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_reads_as_it_always_did(name: str, width: int, snapshot: SnapshotAssertion) -> None:
    assert render(examples.EXAMPLES[name], width, colour=False) == snapshot


@pytest.mark.parametrize("width", [1, 40, 60, 80, 100, 140])
@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = render(examples.EXAMPLES[name], width, colour=False).splitlines()
    assert max(cell_len(line) for line in lines) <= max(width, 40)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("width", range(40, 100))
def test_a_figure_keeps_its_unit(width: int) -> None:
    text = render(examples.THREE, width, colour=False)
    for figure in ("86 %", "48.3 s", "12.4 ms", "(threshold 5 ms)", "23 %", "0.42 ms", "31 per s", "14.20 s/s"):
        assert figure in text


def test_the_first_line_is_the_verdict() -> None:
    assert render(examples.ONE, 80).splitlines()[0].startswith("86 % of database time: Sessions wait for row locks")
    assert render(examples.HEALTHY, 80).splitlines()[0].startswith("No finding: active sessions 0.4 on average")
    assert "nothing was measured" in render(examples.EMPTY, 80).splitlines()[0]
    threat = replace(examples.HEALTHY, findings=(examples.CONNECTIONS,))
    assert render(threat, 80).splitlines()[0] == "No time lost yet: Connections are near the limit: 96 of 100"


def test_others_stand_in_an_overview_and_below() -> None:
    text = render(examples.ONE, 80, others=[examples.HEALTHY])
    lines = text.splitlines()
    assert lines[0] == "2 servers and times, each judged for itself, the worst first"
    assert lines[1].startswith("  1  86 % of database time: Sessions wait for row locks")
    assert "2026-11-20 22:00:00 to 22:00:20 UTC" in " ".join(lines[1:6])
    assert text.index("1 OF 2") < text.index("2 OF 2")
    assert render(examples.ONE, 80, colour=False) in text
    assert max(cell_len(line) for line in lines) <= 80


def test_who_was_not_judged_is_named_in_the_first_line() -> None:
    """A server of which nothing is known must not hide behind one that is well."""
    text = render(examples.HEALTHY, 80, others=[replace(examples.EMPTY, host="db2")])
    assert " ".join(text.splitlines()[:2]).startswith(
        "2 servers and times, each judged for itself, the worst first; no verdict on db2"
    )
    many = [replace(examples.EMPTY, host=f"db{number}") for number in range(2, 9)]
    assert "no verdict on db2, db3, db4 and 4 more" in " ".join(render(examples.ONE, 80, others=many).split())


def test_of_many_others_the_worst_are_shown_whole() -> None:
    text = render(examples.ONE, 80, others=[examples.HEALTHY] * 12)
    assert "10 OF 13" in text
    assert "11 OF 13" not in text
    assert text.endswith("3 MORE\nEach whole: its files alone, or --json.")
    assert text.splitlines()[0].startswith("13 servers and times")


def test_what_another_finding_explains_stands_below_it_and_is_short() -> None:
    text = render(examples.THREE, 80)
    assert text.index("1.1  Row locks are waited for") < text.index("2  Commits are slow")
    assert examples.CONVOY.remedy[0] not in text


def test_colour_is_only_added() -> None:
    plain, coloured = (render(examples.TWELVE, 80, colour=colour) for colour in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[1m" in coloured
    assert _without_colour(coloured) == plain


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in render(examples.ONE, 80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in render(examples.ONE, 80)


def test_eighty_columns_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    monkeypatch.setenv("COLUMNS", "200")
    assert render(examples.THREE) == render(examples.THREE, 80, colour=False)


def test_data_cannot_drive_the_terminal() -> None:
    hostile = replace(examples.LOCKS, title=examples.HOSTILE, remedy=("a\x9b31m\ue000b",))
    text = render(replace(examples.ONE, host="\x1b]0;x\x07", findings=(hostile,)), 80, colour=False)
    assert not [character for character in text if not character.isprintable() and character != "\n"]


def test_wide_characters_count_as_two_columns() -> None:
    wide = replace(examples.LOCKS, title="数据库" * 40)
    lines = render(replace(examples.ONE, findings=(wide,)), 60, colour=False).splitlines()
    assert max(cell_len(line) for line in lines) <= 60
    assert sum(line.count("数") for line in lines[1:]) == 40


def _without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_the_header_says_that_a_server_that_was_named_did_not_answer_whatever_else_is_wrong() -> None:
    told = "The server that was named could not be asked"
    assert any(told in line for line in render(replace(examples.ONE, unanswered=1), 80, colour=False).splitlines()[:6])
    assert told not in render(examples.ONE, 80, colour=False)
    two = render(replace(examples.ONE, unanswered=2), 80, colour=False)
    assert "2 servers that were named could not be asked" in " ".join(two.split())
    unjudged = render(replace(examples.HEALTHY, unanswered=1), 80, colour=False)
    assert unjudged.count("could not be asked") == 1


def test_the_header_says_how_much_of_the_time_the_findings_explain() -> None:
    told = "The causes found explain 86 % of the database time"
    lines = render(replace(examples.ONE, explained=0.864), 80, colour=False).splitlines()
    assert told in lines[:8]
    assert told not in render(examples.ONE, 80, colour=False)
    assert told not in render(replace(examples.HEALTHY, explained=0.864), 80, colour=False)
    none = "None of the causes found explains the database time"
    assert none in render(replace(examples.ONE, explained=0.0), 80, colour=False).splitlines()
    costs_none = replace(examples.HEALTHY, findings=(examples.CONNECTIONS,), explained=0.864)
    assert told not in render(costs_none, 80, colour=False)
    assert told not in render(replace(examples.HEALTHY, findings=(examples.COMMITS,), explained=0.864), 80)
