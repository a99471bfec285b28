"""Which settings have so much logged, and for whom they hold."""

from diagnose.causes.service.test_logging import MIB, found, log
from diagnose.hosts import DB
from doctord.report.phrases import said


def test_settings_of_a_database_or_a_role() -> None:
    own = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "1ms"}
    rows = [
        {"component": "pg_db_role_setting", "db": DB, "name": f"* bench {name}", "value": it}
        for name, it in own.items()
    ]
    rows.append(rows[0] | {"name": "app * log_min_duration_statement", "value": "5s"})
    finding = found(postgres=log(4 * MIB, 20_000), settings={"log_statement": "none"}, extra={"setting": rows})
    assert finding
    figures = [said(item.figure) for item in finding.for_ if item.table == "setting"]
    assert figures == ["auto_explain.log_min_duration = 1ms for database bench"]


def test_three_thousand_roles_with_the_same_setting_are_told_once() -> None:
    row = {"component": "pg_db_role_setting", "db": DB, "value": "0"}
    rows = [row | {"name": f"user{n} * log_min_duration_statement"} for n in range(3000)]
    finding = found(postgres=log(4 * MIB, 20_000), settings={}, extra={"setting": rows}, seconds=1)
    assert finding
    figures = [said(item.figure) for item in finding.for_ if item.table == "setting"]
    assert figures == ["log_min_duration_statement = 0 for role user0 and 2,999 others"]


def test_settings_of_sessions_are_not_seen_and_that_is_said() -> None:
    finding = found(postgres=log(4 * MIB, 20_000), settings={"log_statement": "none"})
    assert finding
    assert finding.confidence == 0.6
    assert "which settings" in said(finding.not_measured[0].what)
