"""The rule on versions of collations."""

import pytest

from doctord.analyse.sql.collations import INDEXES
from doctord.dataset.collations import COMPONENT, Versions, name_of
from doctord.lint.violation import Severity
from doctord.report import phrases
from postgres_datasets import DB
from settings_datasets import HOST, dataset, violations

NAME = name_of("shop")
RULE = "pg_collation/collation_version_changed"


@pytest.mark.parametrize(
    ("indexes", "severity"), [(14.0, Severity.ERROR), (0.0, Severity.NOTE), (None, Severity.ERROR)]
)
def test_a_version_that_changed(indexes: float | None, severity: Severity) -> None:
    about = {"host": HOST, "component": "postgresql", "db": DB, "name": INDEXES, "entity": NAME}
    counted = [] if indexes is None else [{**about, "value": indexes}]
    settings = {NAME: Versions("2.31", "2.36").text}
    found = violations(dataset(COMPONENT, settings, db=DB, statistic=counted))[RULE]
    assert found.severity is severity
    assert phrases.said(found.title) == "shop default: recorded version 2.31, now 2.36"
    assert len(found.settings) == 1


def test_nothing_where_none_changed() -> None:
    assert RULE not in violations(dataset("postgresql", {"server_version": "15.1"}, db=DB))
