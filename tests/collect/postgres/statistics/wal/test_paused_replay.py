"""What a standby's log tells of the primary's settings, in whatever form and language."""

import os
from pathlib import Path

import pytest

from doctord.collect.postgres.server_log import Written
from doctord.collect.postgres.statistics.wal import paused_replay
from doctord.collect.postgres.statistics.wal.paused_replay import _lower

OWN = {"max_connections": 20, "max_worker_processes": 8, "max_wal_senders": 10}
DETAIL = "max_connections = 20 is a lower setting than on the primary server, where its value was 100."
STDERR = f"""\
2026-11-23 10:00:00 UTC [7] WARNING:  hot standby is not possible because of insufficient parameter settings
2026-11-23 10:00:00 UTC [7] DETAIL:  {DETAIL}
2026-11-23 10:00:00 UTC [7] LOG:  recovery has paused
"""
GERMAN = STDERR.replace(
    DETAIL, "max_connections = 20 ist eine niedrigere Einstellung als auf dem Primärserver, wo der Wert 100 war."
)
CSV = (
    "2026-11-23 10:00:00.000 UTC,,,7,,6921.7,5,,2026-11-23 09:00:00 UTC,1/0,0,WARNING,22023,"
    f'"hot standby is not possible because of insufficient parameter settings","{DETAIL}",,,,,,,,"","startup",,0\n'
)
JSON = f'{{"timestamp":"2026-11-23","pid":7,"error_severity":"WARNING","detail":"{DETAIL}","backend_type":"startup"}}\n'


def lower(path: Path, *, is_collected: bool = True, own: dict[str, int] | None = None) -> dict[str, int]:
    return _lower(Written(str(path), path.name if is_collected else None, "%m [%p] "), own or OWN)


@pytest.mark.parametrize("text", [STDERR, GERMAN, CSV, JSON], ids=["stderr", "German", "csvlog", "jsonlog"])
def test_the_setting_and_the_primarys_value(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.log").write_text(text)
    assert lower(tmp_path / "server.log") == {"max_connections": 100}


def test_the_last_one_counts(tmp_path: Path) -> None:
    later = STDERR.replace("max_connections = 20", "max_worker_processes = 8").replace("was 100", "was 16")
    (tmp_path / "server.log").write_text(STDERR + later)
    assert lower(tmp_path / "server.log") == {"max_worker_processes": 16}


@pytest.mark.parametrize(
    "text",
    [
        "",
        STDERR.replace("= 20 ", "= 10 "),
        "LOG:  statement: select max_connections = 20; select 100\n",
        'LOG:  parameter "max_connections" changed to "20"\n',
        STDERR.replace("was 100", "was 20"),
    ],
    ids=["empty", "raised since", "a statement", "a reload", "no more there"],
)
def test_what_is_not_in_force_or_no_such_message_tells_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.log").write_text(text)
    assert lower(tmp_path / "server.log") == {}


def test_it_may_stand_in_a_log_of_days_ago(tmp_path: Path) -> None:
    for number, (name, text) in enumerate({"mon.log": STDERR, "tue.log": "", "wed.log": "", "mon.csv": ""}.items()):
        (tmp_path / name).write_text(text or "nothing\n")
        os.utime(tmp_path / name, (number, number))
    assert lower(tmp_path / "wed.log") == {"max_connections": 100}
    assert lower(tmp_path / "wed.log", is_collected=False) == {}, "who writes into that folder besides, is not told"


def test_a_message_across_two_blocks_and_no_more_than_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paused_replay, "_BLOCK_BYTES", 1000)
    (tmp_path / "server.log").write_text(STDERR + "x" * (1000 - 60) + "\n")
    assert lower(tmp_path / "server.log") == {"max_connections": 100}
    monkeypatch.setattr(paused_replay, "_MOST_BLOCKS", 3)
    (tmp_path / "server.log").write_text(STDERR + "x\n" * 4000)
    assert lower(tmp_path / "server.log") == {}


def test_a_log_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert lower(tmp_path / "pipe", is_collected=False) == {}
