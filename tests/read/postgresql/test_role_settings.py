r"""Settings of roles and databases as psql's \drds prints them."""

from pathlib import Path

import pytest

from doctord.read.formats import read_file
from reading import picked, read_sample


@pytest.mark.parametrize("name", ["role_settings.txt", "role_settings.csv"])
def test_as_psql_prints_them(name: str) -> None:
    reading = read_sample(name)
    assert picked(reading, "setting", "component", "db") == [("pg_db_role_setting", "postgresql")] * 7
    assert picked(reading, "setting", "name", "value", "unit") == [
        ('"Night mix" * work_mem', "1048576", "kB"),
        ("portal shop statement_timeout", "30000", "ms"),
        ("portal * work_mem", "64", "kB"),
        ("portal * search_path", "shop, pub", None),
        ("portal * application_name", "(set, not shown)", None),
        ("portal * enable_seqscan", "off", None),
        ("* shop random_page_cost", "1.1", None),
    ]
    assert reading.skipped_lines == 0


def test_bad_rows_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("Role,Database,Settings\nportal,,jit=off\nportal,,nothing\nx\n", encoding="utf-8")
    reading = read_file(tmp_path / "file")
    assert picked(reading, "setting", "name", "value") == [("portal * jit", "off")]
    assert [(skipped.line, skipped.reason) for skipped in reading.skipped] == [
        (3, "no setting"),
        (4, "1 columns in place of 3"),
    ]
