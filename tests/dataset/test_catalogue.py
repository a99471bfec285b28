"""The lists of settings: without contradictions of their own, and as real servers have them."""

from collections.abc import Callable
from types import ModuleType

import pytest

from doctord.dataset.catalogue import EITHER, MARIADB, MYSQL, Known, catalogue
from mariadb_server import running_mariadb
from servers import FROM_NPM, PACKAGED, running_postgres

LISTED = catalogue("postgresql")


@pytest.mark.server
@pytest.mark.parametrize("version", [PACKAGED, max(FROM_NPM)])
def test_the_list_agrees_with_a_server_of_postgresql(version: int, tool: Callable[[str], ModuleType]) -> None:
    with running_postgres(version) as server:
        told = tool("list_postgresql").listed(server)
    assert [one["name"] for one in told if not LISTED[one["name"]].is_in((version,))] == []
    assert_agrees(tool("settings_list"), "postgresql", {str(version): told})


@pytest.mark.server
def test_the_list_agrees_with_a_server_of_mariadb(tool: Callable[[str], ModuleType]) -> None:
    with running_mariadb() as server:
        told = tool("list_mariadb").listed(server)
    assert_agrees(tool("settings_list"), MARIADB, {"10.11": told})


def assert_agrees(lists: ModuleType, name: str, told: dict[str, list[dict[str, str]]]) -> None:
    known = lists.read((lists.LISTS / f"{name}.csv").read_text(encoding="utf-8"))
    renewed = lists.renewed(known, told)
    assert {name: row for name, row in renewed.items() if row != known.get(name)} == {}


def test_what_versions_disagree_on_is_joined(tool: Callable[[str], ModuleType]) -> None:
    lists = tool("settings_list")
    known = {
        "a": lists.row("a", "size", "restart", unit="8kB", default="1", least="1", most="8", note="by hand"),
        "b": lists.row("b", "enum", "restart", choices="off on"),
        "gone": lists.row("gone", "bool", "reload", since="12"),
    }
    told = {
        "15": [
            lists.row("a", "int", "restart", default="1", least="2", most="9"),
            lists.row("b", "bool", "restart", default="on"),
            lists.row("gone", "bool", "reload"),
        ],
        "16": [
            lists.row("a", "int", "restart", default="2", least="0", most="7"),
            lists.row("b", "enum", "reload", choices="on try"),
            lists.row("new", "int", "reload", default="10", least="9"),
        ],
        "17": [
            lists.row("a", "int", "restart"),
            lists.row("b", "enum", "restart"),
            lists.row("new", "int", "reload", default="20", least="10"),
        ],
    }
    assert lists.renewed(known, told) == {
        "a": lists.row("a", "size", "restart", unit="8kB", least="0", most="9", note="by hand"),
        "b": lists.row("b", "string", "reload", choices="off on try"),
        "gone": lists.row("gone", "bool", "reload", since="12", until="16"),
        "new": lists.row("new", "int", "reload", least="9", since="16"),
    }
    assert lists.read(lists.written(known)) == known


def test_what_the_two_servers_agree_on_counts_where_nobody_says_which_it_is() -> None:
    either = catalogue(EITHER)
    assert set(either) == set(catalogue(MYSQL)) | set(catalogue(MARIADB))
    assert either["innodb_buffer_pool_size"].default == "134217728"
    assert either["innodb_log_file_size"].default is None  # 48 MiB and 96 MiB
    assert either["query_cache_size"].until is None  # MariaDB has it still


@pytest.mark.parametrize("known", LISTED.values(), ids=list(LISTED))
def test_a_setting_agrees_with_itself(known: Known) -> None:
    assert known.since is None or known.until is None or known.since < known.until
    assert known.least is None or known.most is None or known.least <= known.most
    if known.default and known.choices:
        assert known.default in known.choices
    if known.default and known.least is not None and known.most is not None:
        assert known.least <= float(known.default) <= known.most


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
