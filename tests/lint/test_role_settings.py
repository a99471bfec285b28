"""What is set for a role or a database alone."""

from datetime import UTC, datetime, timedelta

import pytest

from doctord.dataset.role_settings import COMPONENT
from doctord.lint.rule import RULES
from doctord.lint.violation import Severity, Violation
from doctord.report import phrases
from settings_datasets import HOST, dataset, violations

DB = "postgresql:5432"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
UNITS = {"work_mem": "kB", "statement_timeout": "ms", "lock_timeout": "ms"}

# Rule, setting, value, severity, and what has to be in title and cost.
FAULTS = [
    ("role_work_mem_tiny", ("app * work_mem", "64"), Severity.WARNING,
     "work_mem = 64.0 KiB for role app", "others have 4.0"),
    ("role_work_mem_tiny", ("* shop work_mem", "512"), Severity.WARNING, "for database shop", "goes to files"),
    ("role_plan_methods_forbidden", ("app * enable_hashjoin", "off"), Severity.NOTE,
     "enable_hashjoin = off for role app", "cannot judge"),
    ("role_plan_methods_forbidden", ("app shop plan_cache_mode", "force_generic_plan"), Severity.NOTE,
     "for role app in database shop", "cannot judge"),
    ("role_timeout_tiny", ("app * statement_timeout", "30"), Severity.WARNING, "30.0 ms for role app", "fails"),
    ("role_timeout_tiny", ("* * lock_timeout", "5"), Severity.WARNING, "for every role", "fails"),
    ("role_commits_unsafe", ("batch * synchronous_commit", "off"), Severity.NOTE, "for role batch", "data"),
    ("role_damage_ignored", ('"Rescue me" * zero_damaged_pages', "on"), Severity.ERROR, "for role Rescue me", "vanish"),
]  # fmt: skip
RIGHT = [
    ("app * work_mem", "1024"), ("app * work_mem", "262144"), ("app * enable_hashjoin", "on"),
    ("app * enable_partitionwise_join", "off"), ("app * plan_cache_mode", "force_custom_plan"),
    ("app * statement_timeout", "0"), ("app * statement_timeout", "30000"), ("app * lock_timeout", "50"),
    ("app * synchronous_commit", "local"), ("app * zero_damaged_pages", "off"), ("app * application_name",
     "(set, not shown)"), ("app * TimeZone", "UTC"), ("nothing", "1"),
]  # fmt: skip


def said(name: str, value: str) -> dict[str, Violation]:
    row = {"host": HOST, "component": COMPONENT, "db": DB, "name": name, "value": value,
           "unit": UNITS.get(name.rpartition(" ")[2])}  # fmt: skip
    found = violations(dataset("postgresql", {"work_mem": "4MB"}, db=DB, setting=[row]))
    return {rule: one for rule, one in found.items() if rule.startswith(COMPONENT)}


@pytest.mark.parametrize(("rule", "held", "severity", "title", "cost"), FAULTS)
def test_what_is_wrong_is_named(rule: str, held: tuple[str, str], severity: Severity, title: str, cost: str) -> None:
    found = said(*held)
    assert list(found) == [f"{COMPONENT}/{rule}"]
    one = found[f"{COMPONENT}/{rule}"]
    assert (one.severity, one.subject) == (severity, DB)
    assert title in phrases.said(one.title)
    assert cost in phrases.said(one.cost)
    assert [setting.name for setting in one.settings] == [held[0]]


@pytest.mark.parametrize(
    ("later", "is_wrong"),
    [
        ({"name": "app * jit", "value": "off"}, True),
        ({"name": "app * work_mem", "value": None}, False),
        ({"name": "app * work_mem", "value": "65536"}, False),
        ({"name": "reading", "value": "0"}, False),
        ({"name": "reading", "value": "0", "db": "postgresql:5433"}, True),
    ],
)
def test_what_was_reset_since_counts_no_more(later: dict[str, str | None], *, is_wrong: bool) -> None:
    about = {"host": HOST, "component": COMPONENT, "db": DB}
    rows = [
        about | {"name": "app * work_mem", "value": "64", "unit": "kB", "ts": NOON},
        about | {"ts": NOON + timedelta(days=1), "unit": "kB"} | later,
    ]
    found = violations(dataset("postgresql", {"work_mem": "4MB"}, db=DB, setting=rows))
    assert (f"{COMPONENT}/role_work_mem_tiny" in found) == is_wrong


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_what_is_right_is_not_named(name: str, value: str) -> None:
    assert said(name, value) == {}


def test_every_rule_is_tried() -> None:
    ours = {rule.name for rule in RULES.values() if rule.component == COMPONENT}
    assert ours == {f"{COMPONENT}/{one[0]}" for one in FAULTS}
