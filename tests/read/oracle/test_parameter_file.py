"""Parameter files of Oracle."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.oracle.parameter_file import NO_END, NOT_A_PARAMETER, plain_value, sniff
from latency_files import read_text, reasons
from oracle_files import frame, read_lines, read_sample
from shared import CASEBOOK, CORPUS, sample

PLAIN = ("*.db_name='shop'", "*.sga_target=6G")


def test_every_form_of_a_parameter() -> None:
    reading = read_sample("parameter_file.ora")
    found = frame(reading, "setting")
    assert set(found["db"]) == {"oracle:shop"}
    settings = {
        (sid, name): (value, unit, line)
        for sid, name, value, unit, line in found.select("instance", "name", "value", "unit", "line").rows()
    }
    assert settings["shop2", "__db_cache_size"] == ("3221225472", None, 3)
    assert settings[None, "control_files"] == ("/u02/shop/control01.ctl, /u03/shop/control02.ctl", None, 6)
    assert settings[None, "dispatchers"] == ("(PROTOCOL=TCP) (SERVICE=shopXDB)", None, 8)
    assert settings[None, "log_archive_format"] == ("arch#%t_%s_%r.log", None, 10)
    assert settings[None, "sga_target"] == ("6442450944", "bytes", 14)
    assert settings[None, "processes"] == ("300", None, 13)
    assert settings[None, "event"] == (
        "10298 trace name context forever, level 32, 44951 trace name context forever, level 1024",
        None,
        18,
    )
    assert settings[None, "undo_tablespace"] != settings["shop2", "undo_tablespace"]
    assert len(settings) == 17
    assert reading.skipped == []


def test_passwords_are_not_kept() -> None:
    values = frame(read_sample("parameter_file.ora"), "setting").filter(name="log_archive_dest_2")["value"].to_list()
    assert values == ["service=standby lgwr async password=(not shown)"]


def test_what_is_no_parameter_is_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, *PLAIN, "see the wiki", "*.control_files='/a/b", "*.processes=10")
    assert set(frame(reading, "setting")["name"]) == {"db_name", "sga_target", "processes"}
    assert reasons(reading)[:2] == [NOT_A_PARAMETER, NO_END]


def test_of_two_values_the_last_counts(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, *PLAIN, "*.sga_target=7G")
    assert frame(reading, "setting").filter(name="sga_target")["value"].to_list() == [str(6 << 30), str(7 << 30)]
    assert reading.notes[0] == "sga_target is set more than once: the last value counts"


def test_strings_of_an_spfile_break_values(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, *PLAIN, "*.audit_file_dest='/u01/app/ora", "cle/adump'")
    assert frame(reading, "setting").filter(name="audit_file_dest")["value"].to_list() == ["/u01/app/oracle/adump"]


def test_a_binary_spfile_is_refused_with_what_to_do(tmp_path: Path) -> None:
    block = b'C"\0\0' + bytes(508) + b'C"\0\0\1\0\0\0' + b"*.db_name='shop'\n*.sga_target=6G\n" + bytes(400)
    with pytest.raises(UserError, match="a binary spfile") as refused:
        read_text(tmp_path, block)
    assert "create pfile" in refused.value.hint


@pytest.mark.parametrize(
    "head",
    [
        "db_name=shop\nprocesses=150\n",
        "*.log_archive_dest='/a'\nshop1.undo_retention = 900\n",
        "optimizer_mode=all_rows\nCURSOR_SHARING=exact\n",
    ],
)
def test_two_parameters_that_are_listed_tell_the_file(head: str) -> None:
    assert sniff(head)


@pytest.mark.parametrize(
    "head",
    [
        "DB_NAME=shop\nDB_USER=me\n",
        "DB_NAME=shop\nINSTANCE_NAME=web\nSESSIONS=9\n",
        "kernel.shmmax = 1\nvm.swappiness = 10\n",
        "max_connections = 100\n",
        "",
    ],
)
def test_settings_of_other_programs_are_not_taken(head: str) -> None:
    assert not sniff(head)


@given(st.lists(st.text(st.characters(codec="ascii", categories=("L", "N"), include_characters="/._-:"), min_size=1)))
def test_lists_come_back_as_they_were_quoted(parts: list[str]) -> None:
    for quote in "'\"":
        text = ",".join(f"{quote}{part}{quote}" for part in parts)
        if len(parts) > 1:
            assert plain_value(f"({text})") == plain_value(text) == (", ".join(parts), None)


@given(st.integers(0, 10**6), st.sampled_from("kKmMgGtT"))
def test_sizes_are_bytes(number: int, suffix: str) -> None:
    assert plain_value(f"{number}{suffix}") == (str(number * 1024 ** ("kmgt".index(suffix.lower()) + 1)), "bytes")


@pytest.mark.parametrize(
    ("path", "database"),
    [
        (CORPUS / "config/wnameless_init.ora", "oracle:XE"),
        (CORPUS / "config/wnameless_initXETemp.ora", "oracle:XE"),
        (CASEBOOK / "consolidation/initaqrevp.ora", "oracle:aqrevp"),
    ],
)
def test_the_samples_are_read_whole(path: Path, database: str) -> None:
    reading = read_file(sample(path))
    found = frame(reading, "setting")
    names = re.findall(r"^(?:\*\.)?(\w+)=", path.read_text(), re.MULTILINE)
    assert found["name"].to_list() == [name.lower() for name in names]
    assert set(found["db"]) == {database}
    assert reading.skipped == []


def test_the_casebook_says_what_its_page_says() -> None:
    found = frame(read_file(sample(CASEBOOK / "consolidation/initaqrevp.ora")), "setting")
    settings = dict(found.select("name", "value").rows())
    assert settings["filesystemio_options"] == "setall"
    assert settings["sga_target"] == str(6 << 30)
    assert settings["log_buffer"] == str(100 << 20)
    assert settings["control_files"].count(", ") == 2
