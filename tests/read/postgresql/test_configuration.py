"""postgresql.conf, what it includes, and postgresql.auto.conf."""

import os
import zipfile
from pathlib import Path

import pytest

from doctord.app.read import dataset_of
from doctord.lint import engine
from doctord.read.formats import Reading, read_file
from doctord.read.postgresql import configuration
from doctord.read.postgresql.line import Line, parsed
from doctord.read.source import ReadOptions
from reading import frame, picked, read_sample


def told(reading: Reading) -> list[tuple[str, str]]:
    return picked(reading, "setting", "name", "value")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("work_mem = 64MB", Line("work_mem", "64MB")),
        ("work_mem 64MB#", Line("work_mem", "64MB")),
        ("  WORK_MEM='64MB'   # why", Line("work_mem", "64MB")),
        ("log_line_prefix = '%m # it''s \\'x\\' \\101'", Line("log_line_prefix", "%m # it's 'x' A")),
        ("archive_command = ''", Line("archive_command", "")),
        ("timezone UTC", Line("TimeZone", "UTC")),
        ("a.b = -1", Line("a.b", "-1")),
        ("# work_mem = 64MB", None),
        ("   ", None),
    ],
)
def test_a_line(text: str, expected: Line | None) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("work_mem = 64 MB", "write '64 MB' or 64MB"),
        ("search_path = public, app", "`public, app` is more than one word"),
        ("work_mem =", "no setting with its value"),
        ("work_mem", "no setting with its value"),
        ("= 64MB", "no setting with its value"),
        ("search_path = 'public", "a quote is not closed"),
        ("work_mem = " + "9" * 100_000, "longer than any setting"),
        ("search_path = '" + "''" * 30_000, "a quote is not closed"),
    ],
)
def test_a_line_that_the_server_refuses(text: str, part: str) -> None:
    assert part in str(parsed(text))


def test_the_sample() -> None:
    reading = read_sample("configuration.conf")
    assert dict(told(reading)) == {
        "listen_addresses": "*",
        "port": "5433",
        "max_connections": "200",
        "superuser_reserved_connections": "3",
        "shared_buffers": "4GB",
        "work_mem": "96MB",
        "search_path": '"$user", it\'s, public',
        "archive_command": "(set, not shown)",
        "primary_conninfo": "(set, not shown)",
        "myapp.token": "(set, not shown)",
        "myapp.limit": "42",
        "auto_explain.log_analyze": "on",
        "TimeZone": "Etc/UTC",
        "DateStyle": "iso, dmy",
    }
    assert set(frame(reading, "setting")["db"]) == {"postgresql:5433"}
    assert "hunter2" not in str(frame(reading, "setting").rows())
    assert picked(reading, "setting", "line", name="work_mem") == [(9,), (19,)]


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A configuration of several files."""
    files = {
        "one.conf": "work_mem=2MB\n",
        "conf.d/b.conf": "work_mem=4MB\n",
        "conf.d/a.conf": "work_mem=3MB\n",
        "conf.d/.c.conf": "work_mem=9MB\n",
        "conf.d/d.txt": "work_mem=9MB\n",
        "postgresql.auto.conf": "work_mem='5MB'\n",
        "PG_VERSION": "15\n",
        "postgresql.conf": "work_mem=1MB\ninclude 'one.conf'\ninclude_dir 'conf.d'\ninclude_if_exists 'no'\nport=5433",
    }
    (tmp_path / "conf.d").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    os.utime(tmp_path / "conf.d/a.conf", (1_800_000_000, 1_800_000_000))
    return tmp_path / "postgresql.conf"


def test_includes_stand_where_the_server_reads_them(main: Path) -> None:
    reading = read_file(main)
    assert told(reading) == [
        ("work_mem", "1MB"),
        ("work_mem", "2MB"),
        ("work_mem", "3MB"),
        ("work_mem", "4MB"),
        ("port", "5433"),
        ("work_mem", "5MB"),
        ("server_version", "15"),
    ]
    assert picked(reading, "setting", "source_file", "line", value="3MB") == [(str(main.parent / "conf.d/a.conf"), 1)]
    assert reading.skipped == []


def test_a_folder_is_one_configuration_and_no_line_counts_twice(main: Path) -> None:
    (main.parent / "conf.d/.c.conf").unlink()
    (main.parent / "conf.d/d.txt").unlink()
    dataset = dataset_of([main.parent], ReadOptions())
    assert dataset.frame("setting").height == 7
    assert engine.examine(dataset).looked_at == ("postgresql:5433: 7 settings of postgresql",)


def test_an_included_file_is_read_as_a_part_of_the_whole(main: Path) -> None:
    reading = read_file(main.parent / "conf.d/b.conf")
    assert told(reading) == told(read_file(main))
    assert f"it is read as a part of {main}" in reading.notes


def test_a_file_that_is_not_included_stands_alone(main: Path) -> None:
    (main.parent / "other.conf").write_text("work_mem=7MB\n", encoding="utf-8")
    assert told(read_file(main.parent / "other.conf")) == [("work_mem", "7MB")]


def test_an_archive_keeps_its_includes_to_itself(main: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.conf"
    outside.write_text("work_mem=8MB\n", encoding="utf-8")
    with main.open("a", encoding="utf-8") as file:
        file.write(f"\ninclude '{outside}'\n")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("postgresql.conf", "one.conf", "conf.d/a.conf"):
            archive.write(main.parent / name, f"etc/{name}")
    frame = dataset_of([tmp_path / "all.zip"], ReadOptions()).frame("setting")
    assert frame["value"].to_list() == ["1MB", "2MB", "3MB", "5433"]
    assert frame["source_file"][2] == f"{tmp_path}/all.zip/etc/conf.d/a.conf"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("include 'gone.conf'", "cannot be read: No such file or directory"),
        ("include_dir 'gone.d'", "No such file or directory (the server does not start with it)"),
        ("include 'postgresql.conf'", "includes itself"),
        ("include 'loop.conf'", "includes itself"),
        ("include 'deep0.conf'", "more than 10 files deep"),
        ("include 'empty.conf'", None),
    ],
)
def test_an_include_that_goes_wrong_costs_its_line(line: str, reason: str | None, tmp_path: Path) -> None:
    (tmp_path / "loop.conf").write_text("include 'postgresql.conf'\n", encoding="utf-8")
    (tmp_path / "empty.conf").touch()
    for depth in range(20):
        (tmp_path / f"deep{depth}.conf").write_text(f"include 'deep{depth + 1}.conf'\n", encoding="utf-8")
    main = tmp_path / "postgresql.conf"
    main.write_text(f"work_mem=1MB\n{line}\nfsync=on\n", encoding="utf-8")
    reading = read_file(main)
    assert told(reading) == [("work_mem", "1MB"), ("fsync", "on")]
    assert [skipped for skipped in reading.skipped if reason is None or reason not in skipped.reason] == []
    assert len(reading.skipped) == (reason is not None)


def test_an_included_line_that_is_wrong_is_named_with_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "more.conf").write_text("fsync=on\nwork_mem = 64 MB\n", encoding="utf-8")
    main = tmp_path / "postgresql.conf"
    main.write_text("port=5433\ninclude more.conf\n", encoding="utf-8")
    [skipped] = read_file(main).skipped
    assert str(skipped).startswith(f"{tmp_path}/more.conf:2: `64 MB` is more than one word")


def test_ten_megabytes_on_one_line(tmp_path: Path) -> None:
    main = tmp_path / "postgresql.conf"
    main.write_text("fsync = on\nsearch_path = '" + "x" * 10_000_000 + "'\nport = 5433\n", encoding="utf-8")
    reading = read_file(main)
    assert told(reading)[0] == ("fsync", "on")
    assert reading.skipped[0].reason == "longer than any setting"


@pytest.mark.parametrize(
    "text",
    [
        "[mysqld]\nmax_connections = 100\n",
        "hello world\n",
        "max_connections\n",
        "Host *\n  Port 22\n",
        "port = 6379\nssl = on\n",
        "transaction_isolation\tREPEATABLE-READ\n",
        "log_level = info\nlog_file = /var/log/x\nmax_workers = 3\ndata_dir = /srv\n",
    ],
)
def test_other_programs_files_are_left_to_others(text: str) -> None:
    assert not configuration.sniff(text)


@pytest.mark.parametrize(
    "text",
    [
        "listen_addresses = '*'\n",
        "gin_pending_list_limit 8MB\n",
        "checkpoint_segments = 32\n",
        "DateStyle = 'ISO'\n",
        "include_dir 'conf.d'\n",
        "shared_bufers = 1GB\n",
        "max_conections = 300\nwork_mems=4MB\n",
    ],
)
def test_a_setting_of_any_version_tells_the_file_and_so_does_a_slip(text: str) -> None:
    assert configuration.sniff(text)
