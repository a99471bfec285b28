"""The list of PostgreSQL's settings: whole for a real server, and without contradictions of its own."""

import pytest

from doctord.chart.chart import Chart
from doctord.lint import engine
from doctord.lint.catalogue import Known, catalogue
from doctord.lint.setting import Setting
from servers import PACKAGED, running_postgres

LISTED = catalogue("postgresql")


@pytest.mark.server
def test_all_settings_of_a_real_server_are_listed_for_its_version() -> None:
    with running_postgres() as server:
        found = server.execute("SELECT name, setting, unit, context FROM pg_settings WHERE name NOT LIKE '%.%'")
    missing = [name for name, *_ in found if name not in LISTED or not LISTED[name].is_in((PACKAGED,))]
    assert missing == []
    units = {name: unit for name, _, unit, _ in found}
    assert {name: LISTED[name].unit for name in units} == units


@pytest.mark.server
def test_a_file_of_all_that_a_server_runs_with_is_right() -> None:
    with running_postgres() as server:
        found = server.execute("SELECT name, setting FROM pg_settings WHERE context <> 'internal'")
    about = {"component": "postgresql", "db": "postgresql:5432", "source": "file", "source_file": "postgresql.conf"}
    rows = [about | {"name": name, "value": value, "line": line} for line, (name, value) in enumerate(found, 1)]
    rows.append(about | {"name": "server_version", "value": f"{PACKAGED}.1"})
    generic = ("setting_", "value_invalid", "unit_", "set_twice")
    said = [
        one.title for one in engine.examine(Chart.from_rows(setting=rows)).remarks if generic_rule(one.rule, generic)
    ]
    assert [title for title in said if "is gone from version" not in title] == []


def generic_rule(rule: str, names: tuple[str, ...]) -> bool:
    return rule.partition("/")[2].startswith(names)


@pytest.mark.parametrize("known", LISTED.values(), ids=list(LISTED))
def test_a_setting_agrees_with_itself(known: Known) -> None:
    assert known.since is None or known.until is None or known.since < known.until
    assert known.least is None or known.most is None or known.least <= known.most
    if known.default and known.choices:
        assert known.default in known.choices
    if known.default and known.least is not None and known.most is not None:
        default = Setting("postgresql", None, None, known.name, known.default).number
        assert default is not None
        assert known.least <= default <= known.most


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("checkpoint_segments", (9, 5)),
        ("wal_keep_segments", (13,)),
        ("stats_temp_directory", (15,)),
        ("vacuum_defer_cleanup_age", (16,)),
        ("promote_trigger_file", (16,)),
        ("old_snapshot_threshold", (17,)),
        ("db_user_namespace", (17,)),
    ],
)
def test_what_was_removed_says_what_replaced_it(name: str, until: tuple[int, ...]) -> None:
    assert LISTED[name].until == until
    assert LISTED[name].note
