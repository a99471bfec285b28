"""Clients that acknowledge nothing: by the kernel's table of connections of the server's own namespace."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from doctord.collect.postgres.statistics.unacknowledged import Unacknowledged
from postgres_samples import link_to, rows_of
from servers import PostgresServer

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
# 10.77.0.1:5432 with 10.77.0.2: three whose answers were sent 5, 9 and 3 times, one that was sent twice, one at rest;
# a client of 10.77.0.3 whose window is shut (timer 4); a connection of ours to another port.
ROWS = """\
   0: 01004D0A:1538 02004D0A:C001 01 00001400:00000000 01:00000A2C 00000005   112        0 4711 2 0 1 10 7 7
   1: 01004D0A:1538 02004D0A:C002 01 00001400:00000000 01:00000A2C 00000009   112        0 4712 2 0 1 10 7 7
   2: 01004D0A:1538 02004D0A:C003 01 00000800:00000000 01:00000A2C 00000003   112        0 4713 2 0 1 10 7 7
   3: 01004D0A:1538 02004D0A:C004 01 00000800:00000000 01:00000A2C 00000002   112        0 4714 2 0 1 10 7 7
   4: 01004D0A:1538 02004D0A:C005 01 00000000:00000000 00:00000000 00000000   112        0 4715 2 0 1 10 7 7
   5: 01004D0A:1538 03004D0A:C006 01 00010000:00000000 04:00000A2C 00000007   112        0 4716 2 0 1 10 7 7
   6: 01004D0A:0016 02004D0A:C007 01 00001400:00000000 01:00000A2C 00000009     0        0 4717 2 0 1 10 7 7
   7: 00000000:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000   112        0 4710 1 0 100 0 0 10 0
"""


def test_only_what_is_sent_again_and_again_counts(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/tcp").write_text(HEAD + ROWS)
    looks = Unacknowledged()
    found = rows_of("statistic", looks.told("postgresql:5432", tmp_path, 5432))
    assert {(row["name"], row["entity"]): row["value"] for row in found} == {
        ("tcp.unacknowledged", "10.77.0.2"): 3,
        ("tcp.unacknowledged_bytes", "10.77.0.2"): 0x1400 + 0x1400 + 0x800,
        ("tcp.acknowledged", "10.77.0.2"): 2,
    }
    (tmp_path / "net/tcp").write_text(HEAD)
    gone = rows_of("statistic", looks.told("postgresql:5432", tmp_path, 5432))
    assert {(row["entity"], row["value"]) for row in gone} == {("10.77.0.2", 0)}
    assert looks.told("postgresql:5432", tmp_path, 5432) == [], "once"


def test_a_process_that_has_ended_tells_nothing(tmp_path: Path) -> None:
    assert Unacknowledged().told("postgresql:5432", tmp_path, 5432) == []


@pytest.mark.server
def test_clients_that_are_well_are_not_told(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    with closing(server.connect(host="127.0.0.1")), closing(link_to(server.dsn())) as link:
        link.open()
        assert Unacknowledged().read(link) == []
