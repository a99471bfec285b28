from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from reading import frame, picked, read_sample


def settings(reading: Reading) -> list[tuple[str, str]]:
    return picked(reading, "setting", "name", "value")


def read_text(tmp_path: Path, **files: str) -> Reading:
    """Reads `my.cnf` among these files, whose names have `__` for a dot."""
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text.replace("HERE", str(tmp_path)), encoding="utf-8")
    return read_file(tmp_path / "my.cnf")


def test_only_groups_of_a_server_count_and_names_are_the_servers_own() -> None:
    reading = read_sample("option_file.cnf")
    assert reading.skipped == []
    assert settings(reading) == [
        ("port", "3307"),
        ("innodb_buffer_pool_size", "8G"),
        ("skip_name_resolve", "ON"),
        ("log_bin", "OFF"),
        ("innodb_numa_interleave", "1"),
        ("sql_mode", "STRICT_ALL_TABLES,NO_ZERO_DATE"),
        ("ft_boolean_syntax", '+ -><()~*:""&|'),
        ("init_connect", "(set, not shown)"),
        ("performance_schema", "OFF"),
        ("wsrep_sst_auth", "(set, not shown)"),
    ]
    assert set(frame(reading, "setting")["db"]) == {"mysql:3307"}
    assert picked(reading, "setting", "line", name="sql_mode") == [(12,)]
    assert "sesame" not in str(reading)


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        ("skip-host-cache", ("skip_host_cache", "ON")),
        ("skip-replica-start", ("skip_replica_start", "ON")),
        ("skip-networking=0", ("skip_networking", "0")),
        ("skip-innodb", ("innodb", "OFF")),
        ("disable-log-bin", ("log_bin", "OFF")),
    ],
)
def test_a_prefix_turns_an_option_off_unless_it_is_part_of_a_name(
    tmp_path: Path, option: str, setting: tuple[str, str]
) -> None:
    assert settings(read_text(tmp_path, my__cnf=f"[mysqld]\n{option}\n")) == [setting]


def test_includes_are_read_where_they_stand_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    for name in ("b.cnf", "a.cnf", "c.txt"):
        (tmp_path / "conf.d" / name).write_text(f"[mysqld]\nserver_id = {ord(name[0])}\n", encoding="utf-8")
    text = "[mysqld]\nserver-id=1\n!includedir HERE/conf.d\n!include HERE/last.cnf\nserver_id=9\n"
    reading = read_text(tmp_path, my__cnf=text, last__cnf="[mariadb-10.11]\nserver-id=2\n")
    assert [value for _, value in settings(reading)] == ["1", "97", "98", "2", "9"]
    assert picked(reading, "setting", "source_file", "line", value="98") == [(str(tmp_path / "conf.d/b.cnf"), 2)]


def test_a_loop_of_includes_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    looping = {
        "my__cnf": "[mysqld]\n!include HERE/other.cnf\nport=1\n",
        "other__cnf": "!include HERE/my.cnf\n[mysqld]\nserver_id=1\n",
    }
    reading = read_text(tmp_path, **looping)
    assert settings(reading) == [("server_id", "1"), ("port", "1")]
    [skipped] = reading.skipped
    assert (skipped.file, skipped.line) == (str(tmp_path / "other.cnf"), 1)
    assert "includes itself" in skipped.reason
    assert "hint:" in skipped.reason


def test_includes_that_go_too_deep_end_as_the_server_ends_them(tmp_path: Path) -> None:
    deep = {f"f{n}__cnf": f"!include HERE/f{n + 1}.cnf\n[mysqld]\nserver_id={n}\n" for n in range(15)}
    reading = read_text(tmp_path, my__cnf="!include HERE/f0.cnf\n[mysqld]\nport=1\n", **deep)
    assert [value for _, value in settings(reading)] == [*map(str, range(9, -1, -1)), "1"]
    assert "includes deep" in reading.skipped[0].reason


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("port=3\n[mysqld]\nserver_id=1\n", 1, "before the first group"),
        ("[mysqld]\nserver_id=1\n= what\n", 3, "no option"),
        ("[mysqld]\nserver_id=1\n!includedir /nowhere/at/all\n", 3, "No such file"),
        ("[mysqld]\nserver_id=1\n!include /nowhere.cnf\n", 3, "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_named_by_its_line(tmp_path: Path, text: str, line: int, why: str) -> None:
    reading = read_text(tmp_path, my__cnf=text)
    assert settings(reading) == [("server_id", "1")]
    [skipped] = reading.skipped
    assert skipped.line == line
    assert why in skipped.reason


def test_a_file_of_clients_alone_has_nothing_to_tell(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no option of a server"):
        read_text(tmp_path, my__cnf="[client]\npassword=open sesame\n")
