"""Figures of a private server."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from doctord.lab.fault import all_faults
from doctord.lab.figures import answer, log_lines, login_s, statement_ms
from doctord.lab.run import run
from doctord.lab.server import PrivateServer


def test_lines_of_the_log_are_counted(tmp_path: Path) -> None:
    (tmp_path / "postgresql.log").write_text("LOG:  ready\nFATAL:  too many clients\nFATAL:  the same\n")
    server = cast("PrivateServer", SimpleNamespace(folder=tmp_path))
    assert log_lines("FATAL:")(server) == 2


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
