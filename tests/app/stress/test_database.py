"""A whole load test of a real server, with short steps."""

from collections.abc import Callable

import pytest

from doctord.app.stress import database as stressing
from doctord.app.stress.database import Asked, stress
from doctord.errors import UserError
from doctord.stress.kits import select
from servers import PostgresServer

MIB = 1 << 20


@pytest.mark.server
@pytest.mark.slow
def test_a_server_is_loaded_and_left_as_it_was(
    postgres_server: Callable[..., PostgresServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = postgres_server()
    monkeypatch.setattr(stressing, "PARTS", (0.01, 0.05))
    monkeypatch.setattr(stressing, "CLIENTS", (1, 2))
    monkeypatch.setattr(stressing, "PROBE_S", 1)
    found = stress(Asked(server.dsn(), select(16 * MIB), step_s=5, repeats=1, limit_ms=60_000, may_disturb=True))
    assert [probe.clients for probe in found.probes] == [1, 2]
    assert found.ceiling.achieved_per_s > 0
    assert sorted(ran.given.offered_per_s or 0 for ran in found.steps)[0] == pytest.approx(
        found.ceiling.achieved_per_s / 100, rel=0.01
    )
    assert all(ran.diagnosis and ran.reads for ran in found.steps)
    assert ("doctord_stress",) not in server.execute("SELECT datname FROM pg_database")


@pytest.mark.parametrize("wrong", [{"step_s": 1}, {"repeats": 0}, {"repeats": 100}, {"most_clients": 0}])
def test_what_is_out_of_bounds_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UserError, match="too"):
        stress(Asked("host=nowhere", select(MIB))._replace(**wrong))
