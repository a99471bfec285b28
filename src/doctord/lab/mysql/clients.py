"""Clients of a MariaDB or MySQL server, in a process of their own: paced or as fast as they can, told as pgbench tells.

`python -m doctord.lab.mysql.clients PLAN` is that process; PLAN is a file of JSON with the fields of `Plan`. It prints
a line a second: when, transactions per second, and their mean latency from when each was due.
"""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord.lab.errors import LabError
from doctord.lab.host.processes import running
from doctord.lab.load.workload import Workload
from doctord.lab.mysql.server import DATABASE, PrivateMySQL, connection

_LINE: Final = "progress: "
_BEGIN_S: Final = 10.0


class Script(NamedTuple):
    """A transaction: `statements` with `{name}` for the random whole numbers of `ranges`; `sleep N` waits N seconds."""

    statements: Sequence[str]
    ranges: Mapping[str, tuple[int, int]] = {}
    weight: int = 1


class Plan(NamedTuple):
    """What the clients do. `rate_per_s` is null for as fast as they can; `reconnect` is a connection a transaction."""

    socket: str
    secret: str
    scripts: Sequence[Script]
    clients: int
    seed: int
    rate_per_s: float | None = None
    reconnect: bool = False
    user: str = "app"
    database: str = DATABASE


@contextmanager
def clients(
    server: PrivateMySQL,
    scripts: Sequence[Script],
    *,
    seed: int,
    clients: int,
    rate_per_s: float | None = None,
    reconnect: bool = False,
) -> Iterator[Workload]:
    """Run clients until the context ends: see `Plan`. What the server refuses is told, and they go on.

    Raises:
        LabError: they ended before the context did.
    """
    folder = Path(tempfile.mkdtemp(prefix="load-", dir=server.folder))
    plan, report = folder / "plan.json", folder / "report.txt"
    plan.write_text(
        json.dumps(Plan(str(server.socket), server.secret, scripts, clients, seed, rate_per_s, reconnect)._asdict())
    )
    with running([sys.executable, "-m", "doctord.lab.mysql.clients", plan], report) as process:
        _wait_until_begun(process, report)
        yield Workload(report)
        if process.poll() is not None:
            last = report.read_text(errors="replace").splitlines()[-5:]
            raise LabError("the load ended early", "its last words were:\n  " + "\n  ".join(last))


def _wait_until_begun(process: subprocess.Popen[bytes], report: Path) -> None:
    deadline = time.monotonic() + _BEGIN_S
    while process.poll() is None and time.monotonic() < deadline and _LINE not in report.read_text():
        time.sleep(0.05)


class _Tally:
    """What all clients did since the last line."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done, self._took_s = 0, 0.0

    def add(self, took_s: float) -> None:
        """A transaction that ended well."""
        with self._lock:
            self._done, self._took_s = self._done + 1, self._took_s + took_s

    def line(self, seconds: float) -> str:
        """As pgbench prints it, with --progress-timestamp; what is counted begins anew."""
        with self._lock:
            done, took_s = self._done, self._took_s
            self._done, self._took_s = 0, 0.0
        mean_ms = 1000 * took_s / done if done else 0.0
        return f"{_LINE}{time.time():.3f} s, {done / seconds:.1f} tps, lat {mean_ms:.3f} ms"


def main(plan: Plan) -> None:
    """Run the clients for ever, and tell of them each second."""
    tally = _Tally()
    for number in range(plan.clients):
        threading.Thread(target=_client, args=(plan, number, tally), daemon=True).start()
    last = time.monotonic()
    while True:
        time.sleep(1)
        now = time.monotonic()
        print(tally.line(now - last), flush=True)  # noqa: T201 - it is what the process is for
        last = now


def _client(plan: Plan, number: int, tally: _Tally) -> None:
    chance = random.Random(f"{plan.seed} {number}")  # noqa: S311 - of rows, not of secrets
    weights = [script.weight for script in plan.scripts]
    mean_s = plan.clients / plan.rate_per_s if plan.rate_per_s else 0.0
    due, connected = time.monotonic() + chance.random() * mean_s, None
    while True:
        now = time.monotonic()
        if mean_s:
            time.sleep(max(0.0, due - now))
            began = due
            due += chance.expovariate(1 / mean_s)
        else:
            began = now
        [script] = chance.choices(plan.scripts, weights)
        try:
            connected = connected or connection(Path(plan.socket), plan.user, plan.secret, plan.database)
            _run(connected, script, chance)
            tally.add(time.monotonic() - began)
        except Exception as error:  # noqa: BLE001 - whatever the server does to a client, it goes on
            print(f"{type(error).__name__}: {error}"[:200], flush=True)  # noqa: T201 - as above
            connected = _usable(connected)
            time.sleep(0.05)
        if plan.reconnect and connected is not None:
            connected.close()
            connected = None


def _run(connected: Any, script: Script, chance: random.Random) -> None:  # noqa: ANN401 - of PyMySQL
    values = {name: chance.randint(*between) for name, between in script.ranges.items()}
    with closing(connected.cursor()) as cursor:
        for statement in script.statements:
            if statement.startswith(_SLEEP):
                time.sleep(float(statement.removeprefix(_SLEEP)))
            else:
                cursor.execute(statement.format(**values))
                cursor.fetchall()


_SLEEP: Final = "sleep "


def _usable(connected: Any) -> Any:  # noqa: ANN401 - of PyMySQL
    """The connection, rolled back, or null where it is lost."""
    if connected is not None:
        with suppress(Exception):
            connected.rollback()
            return connected
    return None


def _plan(path: Path) -> Plan:
    told = json.loads(path.read_text())
    return Plan(**told | {"scripts": [Script(*script) for script in told["scripts"]]})


if __name__ == "__main__":
    main(_plan(Path(sys.argv[1])))
