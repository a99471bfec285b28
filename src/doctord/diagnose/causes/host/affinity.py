"""CPUs that the server's processes may run on: full, while others are idle."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host.scheduling import COMPONENT, cpu_list, idle_pct
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

# One CPU in ten of those that it may use is free now and then; of the others a third, so that work would fit there.
FULL_IDLE_PCT, OTHERS_IDLE_PCT = 10.0, 30.0
_CPUS = r"^\d+ .+\.cpus$"


@cause(explains=("cpu_saturated", "cpu_full", "cpu_other_processes", "log_writer_preempted", "log_writer_starved"))
def server_bound_to_cpus(case: Case) -> Iterator[Claim]:
    """The server's processes may run on some of the CPUs only, and these are full while others are idle.

    Looks like: sessions queue for a CPU on a host that has idle ones; Cpus_allowed_list of all of the server's
        processes names a part of the CPUs.
    Hurts because: they wait for those CPUs, however idle the others are; on average the host looks half idle.
    Speaks for it: the CPUs that they may run on, idle time of those and of all others, the run queue's share.
    Speaks against it: the other CPUs have work of their own, for which they may have been kept free.
    Remedy: taskset -acp 0-LAST PID for each process of the server (new ones take it from the postmaster); AllowedCPUs=
        and CPUAffinity= of its unit, cpuset.cpus of its control group; ask first what that was meant for.
    Verify: Cpus_allowed_list in /proc/PID/status names all CPUs; the run queue's share of the time falls.
    Source: sched_setaffinity(2), cpuset(7), systemd.resource-control(5), AllowedCPUs=.
    """
    settings = case.dataset.frame("setting").sort("ts", maintain_order=True)
    told = settings.filter((pl.col("component") == COMPONENT) & pl.col("name").str.contains(_CPUS))
    told = told.unique("name", keep="last", maintain_order=True)
    allowed = frozenset[int]().union(*(cpu_list(value) for value in told["value"]))
    share = case.time.share(*RUN_QUEUE)
    if not 0 < len(allowed) < case.cpus or not case.worth_saying(share):
        return
    own, others = idle_pct(case.dataset, allowed), idle_pct(case.dataset, allowed, others=True)
    if own is None or others is None or own > FULL_IDLE_PCT or others < OTHERS_IDLE_PCT:
        return
    names = ", ".join(map(str, sorted(allowed)))
    for_, against = weigh(
        [
            Sign("cpu", f"cpu in ({names})", own, FULL_IDLE_PCT, "{:.0f % of their time idle}", "they are full",
                 below=True),
            Sign("cpu", f"cpu not in ({names})", others, OTHERS_IDLE_PCT, "{:.0f % of the others' time idle}",
                 "there is room on them"),
            Sign("session", "wait_class = 'Scheduler'", share * 100, 5.0, "{:.0f %} of the time in the run queue",
                 "ready to run, and waiting for a CPU"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("The server may run on {} of {} CPUs ({}), which are full while others are idle", len(allowed),
               case.cpus, names),
        impact=share,
        confidence=0.9,
        for_=[
            Evidence("setting", f"component = '{COMPONENT}' and name like '%.cpus'",
                     phrase("{:count process/processes}", told.height), "", "may run there alone"),
            *for_,
        ],
        against=against,
    )  # fmt: skip
