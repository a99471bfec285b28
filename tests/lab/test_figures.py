"""Figures of a private server."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from doctord.lab.fault import all_faults
from doctord.lab.figures import answer, far_latency_ms, log_lines, login_s, statement_ms
from doctord.lab.run import run
from doctord.lab.server import PrivateServer


def test_lines_of_the_log_are_counted(tmp_path: Path) -> None:
    (tmp_path / "postgresql.log").write_text("LOG:  ready\nFATAL:  too many clients\nFATAL:  the same\n")
    server = cast("PrivateServer", SimpleNamespace(folder=tmp_path))
    assert log_lines("FATAL:")(server) == 2


def test_the_far_end_is_as_late_as_its_last_transaction_and_before_the_first_as_long_as_it_lasts(
    tmp_path: Path,
) -> None:
    server = cast("PrivateServer", SimpleNamespace(folder=tmp_path))
    assert far_latency_ms(server) is None
    report = tmp_path / "far-1" / "report.txt"
    report.parent.mkdir()
    line = "progress: 1763900000.5 s, {} tps, lat {} ms stddev 0.0, 0 failed\n"
    report.write_text(line.format("0.0", "0.000") * 3)
    assert far_latency_ms(server) == 3000
    report.write_text(line.format("2.0", "412.500") + line.format("0.0", "0.000"))
    assert far_latency_ms(server) == 412.5


@pytest.mark.server
def test_a_server_is_asked_and_left_as_it_was() -> None:
    def look(server: PrivateServer) -> None:
        assert answer("select 7")(server) == 7
        assert answer("select null")(server) is None
        assert answer("select 1 where false")(server) is None
        assert statement_ms("select from nowhere")(server) is None
        slowly = statement_ms("create table made (id int); select pg_sleep(0.02)")(server)
        assert slowly is not None
        assert slowly >= 20
        assert answer("select count(*) from pg_class where relname = 'made'")(server) == 0
        assert 0 < login_s(server) < 5

    run(all_faults()["none"], look)
