"""listener.ora, tnsnames.ora and sqlnet.ora."""

import pytest

from reading import picked, read_sample


@pytest.mark.parametrize("name", ["listener", "tnsnames", "sqlnet"])
def test_every_line_is_used(name: str) -> None:
    reading = read_sample(f"network_files.{name}.ora")
    assert (reading.format, reading.skipped_lines) == ("listener.ora, tnsnames.ora, sqlnet.ora (Oracle)", 0)


def held(name: str) -> dict[str, str]:
    return dict(picked(read_sample(f"network_files.{name}.ora"), "setting", "name", "value"))


def test_brackets_are_a_path() -> None:
    listener = held("listener")
    assert listener["LISTENER.DESCRIPTION_LIST.DESCRIPTION.ADDRESS.PORT"] == "1521"
    assert listener["LISTENER.DESCRIPTION_LIST.DESCRIPTION.ADDRESS[2].KEY"] == "EXTPROC1521"
    assert listener["INBOUND_CONNECT_TIMEOUT_LISTENER"] == "60"
    assert held("tnsnames")["SHOP.DESCRIPTION.ADDRESS_LIST.ADDRESS[2].HOST"] == "db2"
    assert held("sqlnet") == {"NAMES.DIRECTORY_PATH": "TNSNAMES, EZCONNECT", "SQLNET.EXPIRE_TIME": "10"}


def test_a_password_is_not_kept() -> None:
    assert "hunter2" not in str(held("listener"))
