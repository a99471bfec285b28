import pytest

from settings_datasets import dataset, violations


@pytest.mark.parametrize(
    ("version", "name", "replaced_by"),
    [
        ("8.0.36", "query_cache_size", "no query cache"),
        ("8.0.36", "tx_isolation", "transaction_isolation"),
        ("8.0.36", "innodb_file_format", "Barracuda"),
        ("8.4.0", "expire_logs_days", "binlog_expire_logs_seconds"),
        ("8.4.0", "default_authentication_plugin", "authentication_policy"),
        ("10.11.6-MariaDB", "innodb_buffer_pool_instances", "one buffer pool"),
        ("10.6.1-MariaDB", "innodb_log_files_in_group", "innodb_log_file_size"),
        ("11.4.2-MariaDB", "innodb_change_buffering", "change buffer"),
    ],
)
def test_a_setting_of_another_version_is_named_with_what_replaced_it(version: str, name: str, replaced_by: str) -> None:
    held = dataset("mysql", {"version": version}, db="mysql:3306", setting=[written(name, "1")])
    assert replaced_by in violations(held)["mysql/setting_removed"].title


@pytest.mark.parametrize(
    ("version", "name", "value"),
    [
        ("5.7.44", "query_cache_size", "0"),
        ("8.0.36", "innodb_redo_log_capacity", "1G"),
        ("8.0.36", "expire_logs_days", "10"),
        ("10.11.6-MariaDB", "query_cache_type", "0"),
        ("10.11.6-MariaDB", "tx_isolation", "READ-COMMITTED"),
        ("10.11.6-MariaDB", "wsrep_on", "ON"),
        ("8.4.0", "group_replication_group_name", "x"),
        ("10.11.6-MariaDB", "plugin_load_add", "auth_socket.so"),
        ("10.11.6-MariaDB", "log_bin", "mysql-bin"),
        ("10.11.6-MariaDB", "character_set_server", "utf8mb4"),
        ("10.11.6-MariaDB", "lc_messages", "en_US"),
    ],
)
def test_a_setting_of_this_version_is_known(version: str, name: str, value: str) -> None:
    held = dataset("mysql", {"version": version}, db="mysql:3306", setting=[written(name, value)])
    wrong = {"mysql/setting_removed", "mysql/setting_unknown", "mysql/value_invalid"}
    assert wrong & {one.rule for one in violations(held).values() if one.severity.word != "note"} == set()


def test_a_misspelt_setting_of_a_file_is_that_of_the_only_server() -> None:
    found = violations(
        dataset("mysql", {"version": "8.0.36"}, db="mysql:3306", setting=[written("max_conections", "9")])
    )
    assert found["mysql/setting_unknown"].subject == "mysql:3306"
    assert "max_connections" in found["mysql/setting_unknown"].title


def written(name: str, value: str) -> dict[str, object]:
    """A row of a file that names no port."""
    row = {"component": "mysql", "db": "mysql", "name": name, "value": value}
    return {"host": "db1", "source": "file", "source_file": "/etc/my.cnf", "line": 1, **row}


@pytest.mark.parametrize(
    ("name", "value", "running"),
    [
        ("log_bin", "mysql-bin", "ON"),
        ("datadir", "/var/lib/mysql", "/var/lib/mysql/"),
        ("innodb_buffer_pool_size", "8G", "8589934592"),
        ("sql_mode", "NO_ZERO_DATE,STRICT_ALL_TABLES", "STRICT_ALL_TABLES,NO_ZERO_DATE"),
        ("slow_query_log", "1", "ON"),
    ],
)
def test_what_is_written_in_other_words_is_in_force(name: str, value: str, running: str) -> None:
    held = dataset("mysql", {"version": "8.0.36", name: running}, db="mysql:3306", setting=[written(name, value)])
    assert "mysql/not_in_force" not in violations(held)


def test_what_is_written_and_not_in_force_is_said() -> None:
    held = dataset(
        "mysql", {"version": "8.0.36", "log_bin": "OFF"}, db="mysql:3306", setting=[written("log_bin", "bin")]
    )
    assert "mysql/not_in_force" in violations(held)
