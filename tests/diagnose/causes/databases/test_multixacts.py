"""Multixacts that grow old."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose


@pytest.mark.parametrize(("age", "severity"), [(4e8, None), (1.2e9, "warning"), (2.146e9, "critical")])
def test_the_age_of_multixacts(age: float, severity: str | None) -> None:
    ages = {("shop", "pg_database.datminmxid_age"): age, ("shop", "pg_database.datfrozenxid_age"): 1e8}
    found = [(finding.cause, finding.severity) for finding in diagnose(host(postgres=ages)).findings]
    assert found == ([("multixact_age", severity)] if severity else [])
