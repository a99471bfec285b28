import re
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

from doctord.report.diagnosis.document import document
from report import examples

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "json.md"


def test_every_key_is_documented_and_every_documented_key_is_there() -> None:
    documented = set(re.findall(r"^\| `([^`]+)`", REFERENCE.read_text(), flags=re.MULTILINE))
    documents = (document(examples.TWELVE), document(examples.HOST_ONLY, [examples.ONE]))
    found = {re.sub(r"^others\[\]\..*", "others[]", path) for one in documents for path in _paths(one, "")}
    assert documented == {path for path in found if not re.match(r"findings\[\]\.(against|not_measured)\[\]\.", path)}


def test_numbers_are_numbers_and_absent_is_null() -> None:
    doc = document(examples.TWELVE)
    assert doc["findings"][0]["impact"] == 0.864
    assert doc["findings"][-1]["impact"] is None
    assert document(examples.EMPTY)["since"] is None
    assert document(examples.EMPTY)["explained"] is None
    assert document(replace(examples.ONE, explained=0.864))["explained"] == 0.864


def test_times_are_utc() -> None:
    local = examples.SINCE.astimezone(timezone(timedelta(hours=5)))
    moved = examples.Diagnosis("a", local, examples.UNTIL, "database", (), (), (), ())
    assert document(moved)["since"] == "2026-11-20T22:00:00Z"


def _paths(value: object, path: str) -> list[str]:
    """The paths of all leaves."""
    if isinstance(value, dict):
        return [leaf for key, part in value.items() for leaf in _paths(part, f"{path}.{key}".lstrip("."))]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _paths(part, f"{path}[]")]
    return [path]
