"""Configuration files of several servers are not one server's."""

from pathlib import Path

import pytest

from doctord.app.lint import lint, settings
from doctord.app.lint_servers import of_servers
from doctord.dataset.dataset import Dataset
from doctord.read.gather import FileRead
from heard import Heard


def conf(name: str, db: str = "postgresql", host: str | None = None) -> FileRead:
    setting = {"component": db.partition(":")[0], "db": db, "host": host, "name": "fsync", "value": "on"}
    return FileRead(name, "any", dict(Dataset.from_rows(setting=[setting]).tables))


def report(name: str) -> FileRead:
    """Settings with figures beside them."""
    figure = {"db": "mysql:3306", "name": "Queries", "value": 1.0}
    figures = Dataset.from_rows(statistic=[figure]).tables
    return FileRead(name, "any", {**conf(name, "mysql:3306").tables, **figures})


def servers(*files: FileRead) -> list[str]:
    return [str(Dataset(file.tables).frame("setting")["db"][0]) for file in of_servers(files)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([conf("a/postgresql.conf"), conf("b/postgresql.conf")], ["postgresql:a", "postgresql:b"]),
        ([conf("postgresql.conf"), conf("old/postgresql.conf")], ["postgresql:.", "postgresql:old"]),
        (
            [conf(f"/srv/{host}/etc/postgresql/15/main/postgresql.conf") for host in ("web1", "web2")],
            ["postgresql:web1", "postgresql:web2"],
        ),
        (  # a file that is alone of its name goes with those beside it
            [conf("x/a/postgresql.conf"), conf("x/b/postgresql.conf"), conf("x/b/data/postgresql.auto.conf")],
            ["postgresql:a", "postgresql:b", "postgresql:b"],
        ),
        (
            [conf("a/postgresql.conf", "postgresql:5432"), conf("b/postgresql.conf", "postgresql:5432")],
            ["postgresql:5432 in a", "postgresql:5432 in b"],
        ),
        # One server's: other names, other ports, the same folder, a host of their own, those read together.
        ([conf("a/postgresql.conf"), conf("b/postgresql.auto.conf")], ["postgresql"] * 2),
        ([conf("a/my.cnf", "mysql:3306"), conf("b/my.cnf", "mysql:3307")], ["mysql:3306", "mysql:3307"]),
        ([conf("a/postgresql.conf"), conf("a/postgresql.conf")], ["postgresql"] * 2),
        ([conf("a/s.csv", host="db1"), conf("b/s.csv", host="db2")], ["postgresql"] * 2),
        ([conf("/etc/my.cnf", "mysql"), conf("/etc/mysql/my.cnf", "mysql")], ["mysql"] * 2),
        ([conf(f"{node}/init.ora", "oracle:SHOP") for node in "ab"], ["oracle:SHOP"] * 2),  # nodes, or copies
        ([report("mon/status.txt"), report("tue/status.txt")], ["mysql:3306"] * 2),  # readings, one after the other
    ],
)
def test_a_second_file_of_a_name_is_of_another_server(files: list[FileRead], expected: list[str]) -> None:
    assert servers(*files) == expected
    assert servers(*files[::-1]) == expected[::-1]


def test_what_is_wrong_with_one_server_is_not_hidden_by_another(tmp_path: Path) -> None:
    for folder, text in (("a", "fsync = off\n"), ("b", "fsync = on\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "postgresql.conf").write_text(text)
    heard = Heard()
    examined = lint(settings([tmp_path], watcher=heard))
    assert [(one.rule, one.subject) for one in examined.violations] == [("postgresql/fsync_off", "postgresql:a")]
    assert heard.notes == ["settings of 2 servers, by folder: a, b"]
