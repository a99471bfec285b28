"""What a real server of PostgreSQL runs with contradicts nothing in the list of settings."""

import pytest

from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from servers import PACKAGED, running_postgres


@pytest.mark.server
def test_a_file_of_all_that_a_server_runs_with_is_right() -> None:
    with running_postgres() as server:
        found = server.execute("SELECT name, setting FROM pg_settings WHERE context <> 'internal'")
    about = {"component": "postgresql", "db": "postgresql:5432", "source": "file", "source_file": "postgresql.conf"}
    rows = [about | {"name": name, "value": value, "line": line} for line, (name, value) in enumerate(found, 1)]
    rows.append(about | {"name": "server_version", "value": f"{PACKAGED}.1"})
    generic = ("setting_", "value_invalid", "unit_", "set_twice")
    said = [
        one.title
        for one in engine.examine(Dataset.from_rows(setting=rows)).violations
        if generic_rule(one.rule, generic)
    ]
    assert [title for title in said if "is gone from version" not in title] == []


def generic_rule(rule: str, names: tuple[str, ...]) -> bool:
    return rule.partition("/")[2].startswith(names)
