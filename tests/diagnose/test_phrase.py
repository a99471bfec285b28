"""Phrases whose words are written out: each place is whole and has its value."""

import ast
import string
from pathlib import Path

import doctord

SOURCES = sorted(Path(doctord.__file__).parent.rglob("*.py"))


def _phrases(source: str) -> list[tuple[str, list[ast.expr]]]:
    """The words of each phrase that are a literal, with the values given to them."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    phrases = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "phrase"]
    return [
        (call.args[0].value, call.args[1:])
        for call in phrases
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    ]


def _is_whole(words: str, values: list[ast.expr]) -> bool:
    try:
        places = [place for _, place, _, _ in string.Formatter().parse(words) if place is not None]
    except ValueError:
        return False
    is_counted = not any(isinstance(value, ast.Starred) for value in values)
    return not is_counted or len(places) == len(values)


def test_each_phrase_has_a_value_for_each_of_its_places() -> None:
    found = [(path.name, *said) for path in SOURCES for said in _phrases(path.read_text(encoding="utf-8"))]
    assert len(found) > 500
    assert [(name, words) for name, words, values in found if not _is_whole(words, values)] == []


def test_a_place_that_is_not_closed_or_has_no_value_is_seen() -> None:
    assert [
        _is_whole(*said) for said in _phrases('phrase("{:.1f sessions", 1); phrase("{} of {}", 1); phrase("{}", 1)')
    ] == [
        False,
        False,
        True,
    ]
