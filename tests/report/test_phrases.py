"""Numbers of findings become words here, and nowhere else."""

import ast
import string
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import doctord
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, figures, listed, phrase
from doctord.report.phrases import said, says_share, threshold


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (phrase("{:share} of it", 0.0344), "3.4 % of it"),
        (phrase("{:share of database} waits", 0.86), "86 % of database time waits"),
        (phrase("{:share of pass}", 0.39), "39 % of each pass"),
        (phrase("{:bytes} left on {}", 3 * 2**30, "/var"), "3.0 GiB left on /var"),
        (phrase("{:bytes/s}", 2**20), "1.0 MiB/s"),
        (phrase("{:time} a pass", 0.1298), "129.8 ms a pass"),
        (phrase("{:rate} and {:rate commits}", 3.33, 12345), "3.33 a second and 12,345 commits a second"),
        (phrase("busy {:.0f %} of the time, {:,.1f ms} each", 94.2, 1234.56), "busy 94 % of the time, 1,234.6 ms each"),
        (phrase("{} sessions, {:.0%}, {}", 7, 0.4, None), "7 sessions, 40%, unknown"),
        (phrase("since {:%Y-%m-%d %H:%M}", datetime(2026, 11, 22, 3, 4, tzinfo=UTC)), "since 2026-11-22 03:04"),
        (phrase("{}: {}", listed("a", "", phrase("{:.1f}", 2)), "b {c} {"), "a, 2.0: b {c} {"),
        (phrase("{{}} is no place", ), "{} is no place"),
        (phrase("{:count file system/file systems}, {:count CPU/CPUs}", 1, 2), "1 file system, 2 CPUs"),
    ],
)  # fmt: skip
def test_a_phrase_shows_its_values(told: Phrase, words: str) -> None:
    assert said(told) == words


def _formats_in(file: Path) -> Iterator[str]:
    """The formats of all places in the texts of a file, but those that are put together out of names."""
    tree = ast.parse(file.read_text())
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "{:" in node.value
            and id(node) not in parts
        ):
            yield from (spec for _, _, spec, _ in string.Formatter().parse(node.value) if spec and "%Y" not in spec)


def test_each_place_of_a_cause_can_be_shown() -> None:
    for file in Path(doctord.__file__).parent.rglob("diagnose/**/*.py"):
        for spec in _formats_in(file):
            value = datetime(2026, 11, 27, tzinfo=UTC) if spec[0] == "%" else 1.5
            assert said(phrase(f"{{:{spec}}}", value)), f"{file}: {spec}"


def test_a_phrase_is_never_text_by_accident() -> None:
    with pytest.raises(TypeError, match="no text yet"):
        str(phrase("{:share}", 0.5))
    with pytest.raises(TypeError, match="no text yet"):
        f"{phrase('{:share}', 0.5)}"


def test_what_is_left_out_is_no_part_of_a_list() -> None:
    assert listed("", phrase(""), listed()) == Phrase("", ())
    assert said(listed("a", "b", by=" and ")) == "a and b"


def test_evidence_has_its_figures_as_numbers() -> None:
    item = Evidence(
        "disk", "", phrase("{}: {:.1f ms} at {:.0f}", "vda", 24.04, 3), phrase("{:.0f ms}", 20), "", "at_least"
    )
    assert (item.value, item.unit, item.limit, item.direction) == (24.04, "ms", 20.0, "at_least")
    assert threshold(item) == "at least 20 ms"


def test_evidence_without_a_number_has_none() -> None:
    item = Evidence("setting", "", "plan DEFAULT", phrase("{:.0f CPUs} of the host", 8), "")
    assert (item.value, item.unit, item.limit, item.direction) == (None, "", None, None)
    assert threshold(item) == "8 CPUs of the host"
    assert threshold(Evidence("setting", "", "on", "", "")) == ""


def test_a_share_is_said_of_the_time_that_it_is_of() -> None:
    nested = phrase("a call, {}", phrase("{:share of busy}", 0.4))
    assert says_share(nested, "busy")
    assert not says_share(nested, "database")
    assert not says_share("40 % of busy time", "busy"), "words are not parsed"
    assert list(figures(nested)) == [(0.4, "share of busy")]
