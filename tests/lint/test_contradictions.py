import pytest

from doctord.dataset.catalogue import Known
from doctord.lint import subject
from doctord.lint.violation import Severity
from doctord.report import phrases
from settings_datasets import GIB, HOST, dataset, machine, violations

KNOWN = {
    "shared_buffers": ("size", "8kB", 16.0, 1073741823.0, ()),
    "work_mem": ("size", "kB", 64.0, 2147483647.0, ()),
    "wal_level": ("enum", None, None, None, ("minimal", "replica", "logical")),
    "fsync": ("bool", None, None, None, ()),
    "checkpoint_timeout": ("time", "s", 30.0, 86400.0, ()),
    "vacuum_defer_cleanup_age": ("int", None, 0.0, 1e6, ()),
}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small catalogue, so that these tests are not about what servers have."""
    held = {
        name: Known(name, kind, unit, None, least, most, choices, "reload", None, None, "")
        for name, (kind, unit, least, most, choices) in KNOWN.items()
    }
    held["vacuum_defer_cleanup_age"] = Known(
        "vacuum_defer_cleanup_age", "int", None, None, 0, 1e6, (), "reload", None, (16,), "hot_standby_feedback"
    )
    monkeypatch.setattr(subject, "catalogue", lambda component: held if component == "postgresql" else {})


def files(*lines: tuple[str, str]) -> dict[str, object]:
    rows = [
        {"host": HOST, "component": "postgresql", "name": name, "value": value, "source": "file"}
        | {"source_file": "postgresql.conf", "line": number}
        for number, (name, value) in enumerate(lines, 1)
    ]
    return {"setting": rows}


def said(*lines: tuple[str, str], **running: object) -> dict[str, str]:
    found = violations(dataset("postgresql", running, **files(*lines), **machine(16 * GIB)))
    return {
        name.partition("/")[2]: phrases.said(violation.title)
        for name, violation in found.items()
        if "fsync_off" not in name
    }


@pytest.mark.parametrize(
    ("line", "rule", "words"),
    [
        (("shared_bufers", "1GB"), "setting_unknown", "shared_buffers is most like it"),
        (("wal_level", "archive"), "value_invalid", "not one of minimal, replica, logical"),
        (("checkpoint_timeout", "5"), "value_invalid", "below the least, 30 s"),
        (("work_mem", "9999999TB"), "value_invalid", "above the most, 2147483647 kB"),
        (("shared_buffers", "64kB"), "value_invalid", "below the least, 16 x 8kB"),
        (("checkpoint_timeout", "5 parsecs"), "value_invalid", "no number"),
        (("fsync", "perhaps"), "value_invalid", "neither on nor off"),
        (("shared_buffers", "8589934592"), "unit_mistaken", "8.0 GiB may be meant"),
        (("vacuum_defer_cleanup_age", "10"), "setting_removed", "gone from version 16 on: hot_standby_feedback"),
    ],
)
def test_a_wrong_line_is_named(line: tuple[str, str], rule: str, words: str) -> None:
    found = said(line)
    assert list(found) == [rule]
    assert words in found[rule]


@pytest.mark.parametrize(
    "line",
    [
        ("shared_buffers", "8GB"),
        ("shared_buffers", "524288"),
        ("pg_stat_statements.max", "5000"),
        ("wal_level", "'Replica'"),
    ],
)
def test_a_right_line_is_not(line: tuple[str, str]) -> None:
    assert said(line) == {}


def test_set_twice_says_which_counts() -> None:
    assert said(("work_mem", "4MB"), ("work_mem", "64MB"))["set_twice"] == "work_mem is set 2 times; 64MB counts"
    assert said(("work_mem", "4MB"), ("work_mem", "4MB")) == {}


def test_written_but_not_in_force() -> None:
    assert "not_in_force" in said(("work_mem", "64MB"), work_mem="4096kB")
    assert said(("work_mem", "4MB"), work_mem="4096kB") == {}


def test_a_setting_of_another_version_is_a_warning() -> None:
    held = dataset("postgresql", {"server_version": "16.2"}, **files(("vacuum_defer_cleanup_age", "0")))
    found = violations(held)["postgresql/setting_removed"]
    assert found.severity is Severity.WARNING
    assert "is not in version 16.2" in phrases.said(found.title)
