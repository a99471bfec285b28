"""Clients on this host that do not get on: sessions wait for a process that is throttled, stopped, or waits itself."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.host.client_processes import (
    IN_TRANSACTION,
    THROTTLED_PCT,
    WAITED_FOR,
    ClientProcess,
    client_processes,
)
from doctord.analyse.locking.locks import Blocker
from doctord.analyse.spells import LASTING
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.starved import idle_pct, is_full
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Severity, measured
from doctord.diagnose.phrase import Words, listed, phrase

# Half of its time, or of the periods of its quota: a client that gets on for the other half is slow, and no riddle.
MOST: Final = 0.5
# Two sessions and more that stand for their client on average: one may be a job that is meant to be slow.
FELT: Final = 1.0
SEVERAL: Final = 2.0
# A look or two may meet a client in any state.
LONG_ENOUGH_S: Final = 3.5
# What is told of a recording of hours has to hold for minutes.
LONG_S: Final = 120.0
# Nobody is kept from a CPU who has nearly all of one: its own work takes the time.
OWN_WORK: Final = 0.9
HELD_BY_SUCH: Final = ("idle_in_transaction_blocker", "row_locks", "table_locks")


class Reason(NamedTuple):
    """Why a client does not get on: in words behind `is`, its evidence, what to do, and whether it is certain."""

    words: Words
    sign: Sign
    step: Words
    is_kept: bool = True


@cause()
def client_gets_no_cpu(case: Case) -> Iterator[Claim]:
    """Sessions wait for a client on this host that is kept from the CPU.

    Looks like: sessions are `idle in transaction` (ClientRead), or do not get rid of their results, for most of the
        time; statements are quick and the server has nothing to do; the process at the other end of their connections,
        on this host, is throttled by its control group, stopped, frozen, swapped out, or waits in a run queue.
    Hurts because: the time passes between the statements, in the client; its transactions stay open meanwhile, with
        their locks, snapshot and connection, and nothing on the server makes it quicker.
    Speaks for it: sessions that wait for it against those at work; periods that its quota cut short, the state of
        the process, its time on CPUs and waiting for one.
    Speaks against it: as many sessions at work in the server meanwhile; a host whose CPUs are full: then whoever
        fills them is the cause, and the client one of those that wait. A single session that nobody waits behind, and
        sessions that idle outside of transactions, are a note: a job may be slow by intent.
    Remedy: Throttled: raise the CPU limit of the client's group (cpu.max; cpu.cfs_quota_us in version 1; CPUQuota= of
        its unit, the limit of its container or pod), or let it do less between two statements. Stopped: kill -CONT,
        or end the debugger; frozen: docker unpause, or cgroup.freeze and freezer.state of the group. Swapped out:
        give the host memory. Do not end the sessions, nor set idle_in_transaction_session_timeout for it: the client
        would lose its work and still get no CPU.
    Verify: nr_throttled of the group stands still (or ps shows the process in another state than T), and the sessions
        of the program are no longer idle in transactions for most of the time.
    Source: Kernel documentation, "CFS Bandwidth Control" and "Control Group v2" (cpu.max, cpu.stat, cgroup.freeze);
        proc_pid_stat(5), state; PostgreSQL documentation, "Wait Events of Type Client" (ClientRead).
    """
    for client in client_processes(case.dataset):
        lasting = client.seconds >= max(LONG_ENOUGH_S, min(LASTING * case.seconds, LONG_S))
        reason = next(iter(_reasons(case, client)), None)
        if lasting and reason is not None and not _is_throttled_with_the_server(case, client):
            yield from [_claim(case, client, reason)] if reason.is_kept or _is_felt(client) else []


def _reasons(case: Case, client: ClientProcess) -> Iterator[Reason]:
    """What keeps a client, the plainest first."""
    rows = f"entity like '{client.pid}%' and db = '{client.db}'"
    process, pid, quota = f"pid = {client.pid}", client.pid, client.quota
    for name, part, step in (
        ("frozen", client.frozen, "Thaw its control group: docker unpause, or cgroup.freeze / freezer.state of it."),
        ("stopped", client.stopped, "Find out who stopped it (job control, a debugger, kill -STOP); kill -CONT lets "
         "it go on."),
    ):  # fmt: skip
        if part >= MOST:
            yield Reason(name, Sign("statistic", f"name = 'client_process.{name}' and {rows}", part * 100, MOST * 100,
                                    f"{{:.0f %}} of the looks found it {name}", "it cannot answer"),
                         phrase("Process {}: {}", pid, step))  # fmt: skip
    if quota is not None and quota.part >= MOST:
        limit = "its quota" if quota.limit_cpus is None else phrase("{:g CPUs}", quota.limit_cpus)
        yield Reason(
            phrase("throttled to {}", limit),
            Sign("statistic", f"name = '{THROTTLED_PCT}' and {rows}", quota.part * 100, MOST * 100,
                 "{:.0f %} of the periods were cut short", _throttled(client)),
            phrase("Raise the CPU limit of control group {} ({} now): cpu.max, cpu.cfs_quota_us, CPUQuota= of its "
                   "unit, or the limit of the container.", quota.group, limit),
        )  # fmt: skip
    for waited, words, why, step in (
        (client.uninterruptible, "in an uninterruptible sleep", "of the looks found it in state D: it waits for a disk "
         "or a file server", "See what process {} waits for: cat /proc/{}/stack, dmesg."),
        (client.io_wait, "waiting for a disk", "of its time it waits for block I/O", "See what process {} reads and "
         "writes: pidstat -d -p {} 1."),
        (client.memory_wait, "waiting for memory", "of its time it waits for memory: swap, or the limit of its group",
         "Process {} needs more memory: VmSwap in /proc/{}/status, memory.max of its group."),
    ):  # fmt: skip
        if waited is not None and waited >= MOST:
            yield Reason(words, Sign("process", process, waited * 100, MOST * 100, "{:.0f %}", why),
                         phrase(step, pid, pid))  # fmt: skip
    if client.run_wait is not None and client.run_wait >= max(MOST, client.cpu or 0.0):
        yield Reason("waiting for a CPU",
                     Sign("process", process, client.run_wait, MOST, "{:.2f s/s} in the run queue",
                          "it is ready to run"),
                     phrase("See who has the CPUs, and on which process {} may run (taskset -pc {}, cpuset of its "
                            "group).", pid, pid), is_kept=not is_full(case))  # fmt: skip
    if client.cpu is not None and client.cpu >= OWN_WORK:
        yield Reason("busy with work of its own",
                     Sign("process", process, client.cpu, OWN_WORK, "{:.2f} CPUs used by it", "its own work takes the "
                          "time"),
                     phrase("Profile process {}: let it do that work before or after its transactions, or in several "
                            "processes.", pid), is_kept=False)  # fmt: skip


def _claim(case: Case, client: ClientProcess, reason: Reason) -> Claim:
    behind = _behind(case, client)
    total = case.database_time_s()
    share = sum(root.blocked_s for root in behind) / total if total else 0.0
    is_felt = case.worth_saying(share)
    for_, against = weigh(_signs(case, client, reason))
    return Claim(
        phrase("{} is {}: {}", _who(client), reason.words, _standing(client)),
        impact=measured(share) if is_felt else NOT_MEASURED,
        confidence=0.7 if against or not reason.is_kept else 0.9,
        severity=_severity(client, reason) if not is_felt else None,
        for_=[*for_, *_of_process(client), *(
            Evidence("session", f"blocker_sid = {root.sid}",
                     phrase("{:.0f s} waited behind its session {}", root.blocked_s, root.sid), "",
                     "it holds locks meanwhile") for root in behind[:2])],
        against=against,
        first_steps=[reason.step],
        database=client.db,
        explains=(*HELD_BY_SUCH, "clients_do_not_take_results") if behind else ("clients_do_not_take_results",),
        stands_alone=reason.is_kept,
    )  # fmt: skip


def _severity(client: ClientProcess, reason: Reason) -> Severity:
    """A note where nothing tells that anybody loses by it."""
    return "warning" if _is_felt(client) and reason.is_kept else "note"


def _is_felt(client: ClientProcess) -> bool:
    return client.waiting >= max(FELT, client.active) and client.sessions >= SEVERAL


def _signs(case: Case, client: ClientProcess, reason: Reason) -> Iterator[Sign]:
    of = f"entity like '{client.pid} %' and db = '{client.db}'"
    name = IN_TRANSACTION if client.in_transaction >= client.waited_for else WAITED_FOR
    yield Sign("statistic", f"name = '{name}' and {of}", client.waiting, max(client.active, 0.05),
               "{:.2f} sessions wait for it on average",
               phrase("and {:.2f} are at work in the server: the time passes in the client", client.active),
               phrase("{:.2f} are at work in the server meanwhile", client.active))  # fmt: skip
    yield reason.sign
    yield Sign("cpu", "cpu is null", idle_pct(case), 10.0, "{:.0f %} of the host's CPU time is idle",
               "the server and its host have room", "the host itself has little left")  # fmt: skip


def _of_process(client: ClientProcess) -> Iterator[Evidence]:
    if client.cpu is not None:
        waited = "" if client.run_wait is None else phrase("and waited {:.2f s/s} for one", client.run_wait)
        yield Evidence("process", f"pid = {client.pid}",
                       phrase("{:.2f} CPUs used by process {}", client.cpu, client.pid), "", waited)  # fmt: skip


def _who(client: ClientProcess) -> Words:
    programs = [program for program in client.programs if program]
    named = " and ".join(programs[:2]) if programs else client.command or "a client on this host"
    command = client.command or "process"
    if client.processes > 1:
        return phrase("{} ({:.0f} processes {}, pid {} first)", named, client.processes, command, client.pid)
    return phrase("{} ({}, pid {})", named, command, client.pid)


def _standing(client: ClientProcess) -> Words:
    if client.waiting < 0.05:
        return phrase("its {:.0f} sessions idle outside of transactions", client.sessions)
    where = "in transactions" if client.in_transaction >= client.waited_for else "with results to send"
    return phrase("{:.1f} of its {:.0f} sessions wait for it {}", client.waiting, client.sessions, where)


def _throttled(client: ClientProcess) -> Words:
    quota = client.quota
    if quota is None:
        return ""
    stopped = "" if quota.throttled_s_per_s is None else phrase("stopped for {:.2f s/s}", quota.throttled_s_per_s)
    unit = f"of {client.unit}" if client.unit and not client.unit.startswith("/") else ""  # a unit or container
    return listed(listed(f"control group {quota.group}", unit, by=" "), stopped)


def _behind(case: Case, client: ClientProcess) -> list[Blocker]:
    """Its sessions that others wait behind while they are idle in a transaction."""
    return [
        root for root in case.blockers
        if root.db == client.db and (root.program or "") in client.programs
        and root.idle_blocked_s >= MOST * root.blocked_s
    ]  # fmt: skip


def _is_throttled_with_the_server(case: Case, client: ClientProcess) -> bool:
    """Whether it is the server's own group that is stopped: then that is told as what stops the server."""
    groups = {figure.entity for figure in case.figures("cpu.limit_cpus")}
    return client.quota is not None and client.quota.part >= MOST and client.quota.group in groups
