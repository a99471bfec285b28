"""The processes on this host that sessions have as their clients: whether they get a CPU while sessions wait for them.

A session that is `idle in transaction`, or that waits for its client within a statement, waits for a process that the
server knows by its address alone. Where that process is on this host the kernel tells more: its control group with the
quota of CPU time (cpu.stat), whether it is stopped or frozen, or in an uninterruptible sleep. Its times are those of
`process`.

Every two seconds one query, which leaves out no session; processes are looked up by their sockets for sessions that are
new, rarely, and the more seldom the longer that takes; control groups and states are read of those alone that sessions
wait for or that are in use.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.control_groups import CGROUPS, PROC, Quota, is_frozen, quotas, text
from doctord.collect.core.sock_diag import unix_peers
from doctord.collect.core.socket_owners import End, ends_of, other_namespaces, owners, sockets
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.secrets import program_name
from doctord.errors import UserError

_SESSIONS: Final = """\
SELECT /* doctord */ pid, (date_part('epoch', backend_start) * 1e6)::bigint AS serial, application_name AS program,
       host(client_addr) AS client, client_port, current_setting('port')::int AS port,
       date_part('epoch', clock_timestamp() - state_change) AS in_state_s
FROM pg_stat_get_activity(NULL) WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
_LOOK_EVERY_S: Final = 2.0
_A_TICK_S: Final = 0.05  # a look may come a little before its time
_LOOK_SHARE: Final = 0.02  # of the time: the server's answer, our CPU time, and as much for looking up processes
_NEW_EVERY_S: Final = 10.0
# A session that waits for its client for half of the time is worth looking it up at once.
_WAITS: Final = 0.5
# Programs of one name in one control group are told together: an application's workers.
_MOST_TOLD: Final = 4
_MOST_LOOKED_AT: Final = 64
_LEAST_WAITED: Final = 0.05
_LEAST_THROTTLED_PCT: Final = 5.0
_STOPPED: Final = ("T", "t")  # proc_pid_stat(5): by a signal, by a debugger
_CLIENT: Final = "Client"
_SUBJECT: Final = "which processes on this host are the clients of sessions"
_HINT: Final = "run as root: /proc/PID/fd of other users' processes tells whose a socket is"


class _Key(NamedTuple):
    """A session, told from others of the same number."""

    sid: int
    serial: int


@dataclass(slots=True)
class _Times:
    """Seconds of a session since the last look: idle in a transaction, waiting for its client, and at work."""

    in_transaction: float = 0.0
    waited_for: float = 0.0
    active: float = 0.0


class _Alike(NamedTuple):
    """What processes share that are told together: `how` is stopped, frozen, or empty."""

    name: str
    group: str
    how: str


@dataclass(slots=True)
class _Clients:
    """Processes that are alike, what their sessions did by program, and the quota that stops them most."""

    how: str
    pids: set[int] = field(default_factory=set)
    sleeping: int = 0
    sessions: dict[str, list[_Times]] = field(default_factory=lambda: defaultdict(list))
    quota: Quota | None = None
    throttled_pct: float | None = None
    throttled_s_per_s: float | None = None

    @property
    def waited_s(self) -> float:
        """How long sessions waited for them, in sum."""
        return sum(_waited(times) for each in self.sessions.values() for times in each)


class ClientProcesses:
    """Fills `statistic` with `client_process.*`, for the clients on this host that sessions wait for.

    The entity is `PID`, the first of the processes that are told together, and behind it the program of the sessions
    (as application_name has it) or the control group.
    """

    def __init__(self, proc: Path = PROC, cgroups: Path = CGROUPS) -> None:
        """Nothing is looked at yet; the folders may be recorded trees."""
        self._proc, self._cgroups = proc, cgroups
        self._times = defaultdict[_Key, _Times](_Times)
        self._known = dict[_Key, int | None]()
        self._quotas = dict[str, Quota]()
        self._looked_at: float | None = None
        self._look_from = self._new_from = float("-inf")

    def add(self, active: Iterable[Mapping[str, Any]], interval_s: float) -> None:
        """Count one sample of sessions that are not idle, as pg_stat_activity has them."""
        for row in active:
            if row["state"] is None:
                continue
            times = self._times[_Key(row["pid"], row["serial"])]
            if row["state"].startswith("idle in transaction"):
                times.in_transaction += interval_s
            elif row["wait_event_type"] == _CLIENT:
                times.waited_for += interval_s
            else:
                times.active += interval_s

    def begin(self) -> None:
        """Forget what was counted: the connection is a new one."""
        self._looked_at, self._look_from = None, float("-inf")
        self._times.clear()

    def look(self, link: Link) -> list[Batch]:
        """Rows where two seconds have passed; the first look begins to count."""
        now = time.monotonic()
        if now < self._look_from:
            return []
        times, self._times = self._times, defaultdict(_Times)
        seconds = None if self._looked_at is None else now - self._looked_at
        self._looked_at = now
        try:
            sessions = {_Key(row["pid"], row["serial"]): row for row in link.query(_SESSIONS, prepare=True)}
        except UserError as refusal:
            link.notices.not_measured(link.db, _SUBJECT, str(refusal), refusal.hint)
            sessions = {}
        answered_s = time.monotonic() - now
        self._known = {key: pid for key, pid in self._known.items() if key in sessions}
        self._look_up(link, sessions, times, seconds or _LOOK_EVERY_S)
        spent_s = time.thread_time()
        found = self._clients(sessions, times, seconds)
        cost_s = max(answered_s, time.thread_time() - spent_s)
        self._look_from = now + max(_LOOK_EVERY_S - _A_TICK_S, cost_s / _LOOK_SHARE)
        return _told(link.db, found, seconds) if seconds else []

    def _look_up(
        self, link: Link, sessions: Mapping[_Key, Mapping[str, Any]], times: Mapping[_Key, _Times], seconds: float
    ) -> None:
        """Find the processes of sessions that are new: at once of those that wait for their client, else seldom."""
        new = [key for key, row in sessions.items() if key not in self._known and row["client_port"] is not None]
        began, spent_s = time.monotonic(), time.thread_time()
        waiting = [key for key in new if key in times and _waited(times[key]) >= _WAITS * seconds]
        if not new or began < self._new_from - (0.0 if not waiting else _NEW_EVERY_S):
            return
        ends = self._ends(link, {key: sessions[key] for key in new})
        here = owners(set(ends.values()), self._proc)
        self._known |= {key: here.pids.get(ends[key].inode) if key in ends else None for key in new}
        if here.refused and any(key in ends and self._known[key] is None for key in waiting):
            link.notices.not_measured(link.db, _SUBJECT, "not granted", _HINT)
        self._new_from = began + max(_NEW_EVERY_S, (time.thread_time() - spent_s) / _LOOK_SHARE)

    def _ends(self, link: Link, sessions: Mapping[_Key, Mapping[str, Any]]) -> dict[_Key, End]:
        """The clients' ends of their connections, as far as these are on this host."""
        by_tcp = {key: (row["client"], row["client_port"]) for key, row in sessions.items() if row["client"]}
        found = dict[_Key, End]()
        ports = {row["port"] for row in sessions.values()} if by_tcp else set[int]()
        for port in ports:
            ends = ends_of(port, proc=self._proc)
            for other in other_namespaces(self._proc) if by_tcp.values() - ends.keys() else ():
                ends = ends_of(port, other, self._proc) | ends
            found |= {key: ends[place] for key, place in by_tcp.items() if place in ends}
        if len(by_tcp) < len(sessions) and link.server_pid() is not None:
            peers = dict(unix_peers())
            for key in sessions.keys() - by_tcp.keys():
                if (inode := self._peer(key.sid, peers)) is not None:
                    found[key] = End(inode, None)
        return found

    def _peer(self, sid: int, peers: Mapping[int, int]) -> int | None:
        """The other end of a backend's Unix socket; null where it may not be seen."""
        try:
            return next((peers[one] for one in sockets(self._proc / str(sid)) if peers.get(one)), None)
        except OSError:
            return None

    def _clients(
        self, sessions: Mapping[_Key, Mapping[str, Any]], times: Mapping[_Key, _Times], seconds: float | None
    ) -> list[_Clients]:
        """Who the clients of the sessions in use are, and how they are; those that are waited for longest first."""
        recently = seconds or _LOOK_EVERY_S
        used = {key: times.get(key, _Times()) for key, row in sessions.items()
                if key in times or (row["in_state_s"] or 0.0) < recently}  # fmt: skip
        servers = {key.sid for key in sessions} | {os.getpid()}  # nor do we tell of ourselves
        here = [(key, pid) for key in used if (pid := self._known.get(key)) is not None and pid not in servers]
        here.sort(key=lambda one: -_waited(used[one[0]]))
        clients, looked_at = dict[_Alike, _Clients](), dict[int, _Clients]()
        before, self._quotas = self._quotas, {}
        for key, pid in here:
            if pid not in looked_at and len(looked_at) < _MOST_LOOKED_AT:
                looked_at[pid] = self._look_at(pid, clients, before, seconds)
            if pid in looked_at:
                looked_at[pid].sessions[program_name(sessions[key]["program"] or "") or ""].append(used[key])
        return sorted(clients.values(), key=lambda one: -one.waited_s)

    def _look_at(
        self, pid: int, clients: dict[_Alike, _Clients], before: Mapping[str, Quota], seconds: float | None
    ) -> _Clients:
        """State and control group of a process; the quota is read for the first of those that are alike."""
        name, state = _name_and_state(self._proc / str(pid))
        how = "stopped" if state in _STOPPED else "frozen" if is_frozen(pid, self._proc, self._cgroups) else ""
        alike = _Alike(name, text(self._proc / str(pid) / "cgroup"), how)
        if (found := clients.get(alike)) is None:
            found = clients[alike] = _Clients(how)
            for quota in quotas(pid, self._proc, self._cgroups):
                self._quotas[quota.path] = quota
                _throttle(found, before.get(quota.path), quota, seconds)
        found.pids.add(pid)
        found.sleeping += state == "D"
        return found


def _waited(times: _Times) -> float:
    return times.in_transaction + times.waited_for


def _throttle(clients: _Clients, before: Quota | None, now: Quota, seconds: float | None) -> None:
    """Of several quotas the one counts that stopped the processes in most of its periods."""
    if before is None or not seconds or now.periods <= before.periods:
        return
    part = 100 * (now.throttled_periods - before.throttled_periods) / (now.periods - before.periods)
    if clients.throttled_pct is None or part > clients.throttled_pct:
        clients.quota, clients.throttled_pct = now, part
        clients.throttled_s_per_s = (now.throttled_s - before.throttled_s) / seconds


def _told(db: str, found: Iterable[_Clients], seconds: float) -> list[Batch]:
    figures = Figures(db)
    for one in [one for one in found if _is_worth_telling(one, seconds)][:_MOST_TOLD]:
        pid = str(min(one.pids))
        figures.gauge("client_process.processes", len(one.pids), entity=pid)
        figures.gauge("client_process.uninterruptible", one.sleeping, entity=pid)
        figures.gauge("client_process.stopped", one.how == "stopped", "boolean", pid)
        figures.gauge("client_process.frozen", one.how == "frozen", "boolean", pid)
        for program, each in sorted(one.sessions.items()):
            about = f"{pid} {program}"
            figures.gauge("client_process.sessions", len(each), entity=about)
            for name, spent in (
                ("client_process.in_transaction", sum(times.in_transaction for times in each)),
                ("client_process.waited_for", sum(times.waited_for for times in each)),
                ("client_process.active", sum(times.active for times in each)),
            ):
                figures.gauge(name, spent / seconds, "count", about, seconds)
        if one.quota is not None:
            about = f"{pid} {one.quota.path}"
            figures.gauge("client_process.cpu_limit_cpus", one.quota.limit_cpus, "cpus", about)
            figures.gauge("client_process.throttled_pct", one.throttled_pct, "pct", about, seconds)
            figures.gauge("client_process.throttled_s_per_s", one.throttled_s_per_s, "s_per_s", about, seconds)
    return figures.batches()


def _is_worth_telling(one: _Clients, seconds: float) -> bool:
    return one.waited_s >= _LEAST_WAITED * seconds or (one.throttled_pct or 0.0) >= _LEAST_THROTTLED_PCT


def _name_and_state(process: Path) -> tuple[str, str]:
    """Name and state of a process (proc_pid_stat(5)); empty where it has ended."""
    name, _, rest = text(process / "stat").partition("(")[2].rpartition(")")
    return name, rest.split()[0] if rest.split() else ""
