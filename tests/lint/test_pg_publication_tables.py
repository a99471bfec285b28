"""The rule on published tables."""

import pytest

from doctord.analyse.sql.publications import CHANGES
from doctord.dataset.publications import COMPONENT
from doctord.lint.violation import Severity
from doctord.report import phrases
from postgres_datasets import DB
from settings_datasets import HOST, dataset, violations

TABLE = "shop.public.stock"
RULE = "pg_publication_tables/replica_identity_missing"


@pytest.mark.parametrize(("changes", "severity"), [(14.0, Severity.ERROR), (0.0, Severity.NOTE), (None, Severity.NOTE)])
def test_a_table_without_a_replica_identity(changes: float | None, severity: Severity) -> None:
    about = {"host": HOST, "component": "postgresql", "db": DB, "name": CHANGES, "entity": TABLE}
    counted = [] if changes is None else [{**about, "value": changes}]
    settings: dict[str, object] = {TABLE: "everything: UPDATE and DELETE"}
    found = violations(dataset(COMPONENT, settings, db=DB, statistic=counted))[RULE]
    assert found.severity is severity
    assert (
        phrases.said(found.title) == f"{TABLE}: published by everything: UPDATE and DELETE, without a replica identity"
    )


def test_nothing_where_all_have_one() -> None:
    assert RULE not in violations(dataset("postgresql", {"server_version": "15.1"}, db=DB))
