"""Processes on this host that sessions wait for as their clients: what they got of the CPUs, and what stops them."""

from typing import Any, Final, NamedTuple

from doctord.analyse.figures import Statistic, figures
from doctord.analyse.host.processes import processes
from doctord.dataset.dataset import Dataset

NAMES: Final = "client_process."
IN_TRANSACTION, WAITED_FOR, ACTIVE = (f"{NAMES}{name}" for name in ("in_transaction", "waited_for", "active"))
SESSIONS, PROCESSES, UNINTERRUPTIBLE = (f"{NAMES}{name}" for name in ("sessions", "processes", "uninterruptible"))
STOPPED, FROZEN = f"{NAMES}stopped", f"{NAMES}frozen"
LIMIT, THROTTLED_PCT, THROTTLED_S = (
    f"{NAMES}{name}" for name in ("cpu_limit_cpus", "throttled_pct", "throttled_s_per_s")
)


class Quota(NamedTuple):
    """A quota of CPU time: of which group, how many CPUs, and the part (0 to 1) of its periods that it cut short.

    `throttled_s_per_s` is how long the group was stopped, summed over CPUs.
    """

    group: str
    limit_cpus: float | None
    part: float
    throttled_s_per_s: float | None


class ClientProcess(NamedTuple):
    """A client of sessions on this host: one process, or several of a name in one control group (`pid` is the first).

    `in_transaction`, `waited_for` and `active` are sessions on average: idle in a transaction, waiting for the client
    within a statement, at work. `stopped`, `frozen` and `uninterruptible` are parts (0 to 1) of the looks, of `seconds`
    in all. Times of its own (`cpu`, `run_wait`, `io_wait`, `memory_wait`) are seconds a second of the process `pid`;
    what was not measured is null.
    """

    db: str
    pid: int
    programs: list[str]
    sessions: float
    in_transaction: float
    waited_for: float
    active: float
    seconds: float
    processes: float = 1.0
    stopped: float = 0.0
    frozen: float = 0.0
    uninterruptible: float = 0.0
    command: str | None = None
    unit: str | None = None
    cpu: float | None = None
    run_wait: float | None = None
    io_wait: float | None = None
    memory_wait: float | None = None
    quota: Quota | None = None

    @property
    def waiting(self) -> float:
        """Sessions that wait for it, on average."""
        return self.in_transaction + self.waited_for


def client_processes(dataset: Dataset) -> list[ClientProcess]:
    """Those that were told of, those first that most sessions wait for."""
    told = figures(dataset, IN_TRANSACTION)
    clients = dict[tuple[str, int], list[Statistic]]()
    for one in told:
        if one.db:
            clients.setdefault((one.db, _pid(one)), []).append(one)
    own = {row["pid"]: row for row in processes(dataset).iter_rows(named=True)} if clients else {}
    found = [_client(dataset, db, pid, each, own.get(pid, {})) for (db, pid), each in clients.items()]
    return sorted(found, key=lambda one: (-one.waiting, one.db, one.pid))


def _client(dataset: Dataset, db: str, pid: int, told: list[Statistic], own: dict[str, Any]) -> ClientProcess:
    def of(name: str) -> list[Statistic]:
        return [one for one in figures(dataset, name) if one.db == db and _pid(one) == pid]

    def mean(name: str) -> float:
        return sum(one.mean for one in of(name))

    seconds = own.get("seconds") or 0.0
    times = {
        name: own[f"{name}_s"] / seconds
        for name in ("cpu", "run_wait", "io_wait", "memory_wait")
        if seconds and own.get(f"{name}_s") is not None
    }
    return ClientProcess(
        db=db,
        pid=pid,
        programs=sorted(_about(one) for one in told),
        sessions=mean(SESSIONS),
        in_transaction=mean(IN_TRANSACTION),
        waited_for=mean(WAITED_FOR),
        active=mean(ACTIVE),
        seconds=max(one.seconds for one in told),
        processes=mean(PROCESSES),
        stopped=mean(STOPPED),
        frozen=mean(FROZEN),
        uninterruptible=mean(UNINTERRUPTIBLE) / max(mean(PROCESSES), 1.0),
        command=own.get("command"),
        unit=own.get("unit"),
        quota=_quota(of(THROTTLED_PCT), of(LIMIT), of(THROTTLED_S)),
        **times,
    )


def _quota(parts: list[Statistic], limits: list[Statistic], seconds: list[Statistic]) -> Quota | None:
    """That of the group that was stopped in most of its periods."""
    first = max(parts, key=lambda one: one.mean, default=None)
    if first is None:
        return None
    limit = next((one.last for one in limits if one.entity == first.entity), None)
    throttled = next((one.mean for one in seconds if one.entity == first.entity), None)
    return Quota(_about(first), limit, first.mean / 100, throttled)


def _pid(one: Statistic) -> int:
    return int((one.entity or "0").partition(" ")[0])


def _about(one: Statistic) -> str:
    return (one.entity or "").partition(" ")[2]
