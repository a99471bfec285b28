from collections.abc import Callable

import pytest

from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.mark.parametrize("version", [13, 15, 18])
def test_a_private_server_runs_with_the_settings_asked_for(
    postgres_server: Callable[..., PostgresServer], version: int
) -> None:
    server = postgres_server(version, {"work_mem": "3MB"})
    assert server.execute("show work_mem") == [("3MB",)]
    assert server.execute("show server_version_num")[0][0].startswith(str(version))
    assert len(server.backends()) >= 4


def test_a_server_can_be_stopped_and_started_again(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    server.execute("create table kept (id int)")
    server.stop()
    server.start()
    assert server.execute("select count(*) from kept") == [(0,)]
