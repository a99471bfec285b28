"""Files of the configuration that the server cannot take."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

LINE = "postgresql.conf line 812: workmem: unrecognized configuration parameter"


@pytest.mark.parametrize("view", ["pg_file_settings", "pg_hba_file_rules", "pg_ident_file_mappings"])
def test_a_line_that_cannot_be_taken_is_named(view: str) -> None:
    figures = {(None, f"{view}.errors"): 1.0, (LINE, f"{view}.errors"): 1.0}
    [finding] = diagnose(host(postgres=figures)).findings
    assert (finding.cause, finding.severity) == ("configuration_not_loaded", "warning")
    assert said(finding.title).endswith(LINE)


def test_files_without_a_mistake_are_healthy() -> None:
    assert diagnose(host(postgres={(None, "pg_file_settings.errors"): 0.0})).healthy


def test_a_line_that_fits_nobody_is_taken_all_the_same() -> None:
    line = "pg_hba.conf line 3: scram-sha-256: hostssl record cannot match because SSL is disabled"
    figures = {(None, "pg_hba_file_rules.errors"): 1.0, (line, "pg_hba_file_rules.errors"): 1.0}
    assert diagnose(host(postgres=figures)).healthy
