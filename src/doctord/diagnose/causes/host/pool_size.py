"""How many connections a pool would have, by what `size pool` works out of the same figures."""

from typing import Final

from doctord.analyse.sizing.pool import QUESTION, pool
from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.working import Assumed, Given
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.case import Case
from doctord.diagnose.common.starved import CROWDED, is_crowded, wanting
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase

MEASURED: Final = "measured"


def pool_size(case: Case) -> Sizing | None:
    """The size of a pool for the load that was seen; null where transactions or CPUs were not counted.

    The time that a transaction holds its connection is taken without the run queue: that is what a pool does away with.
    """
    commits, spent = case.common("commits"), case.time.seconds_per_second
    on_cpu, queueing = case.time.share("CPU", "CPU"), case.time.share(*RUN_QUEUE)
    if not commits or not case.cpus or not on_cpu or case.time.of != "database":
        return None
    figures = {
        "rate": (commits, "per_s"),
        "held": (spent * (1 - queueing) / commits, "s"),
        "cpu": (spent * on_cpu / commits, "s"),
        "cpus": (float(case.cpus), "count"),
    }
    names = {one.option: one.name for one in QUESTION.inputs}
    limit = next(one for one in QUESTION.inputs if one.option == "limit")
    return pool(
        **{option: Given(names[option], value, unit, MEASURED) for option, (value, unit) in figures.items()},
        limit=Assumed(limit.name, limit.assumed or 1.0, limit.unit, limit.because),
    )


def first_step(case: Case) -> list[Words]:
    """A pool of that size, where more sessions want a CPU than there are CPUs."""
    worked = pool_size(case) if is_crowded(case) else None
    if worked is None:
        return []
    return [
        phrase(
            "First: a pool of {} connections over all clients together (doctord size pool shows the working): {:.0f} "
            "sessions want {:count CPU/CPUs} at once. They then queue for a connection, before they hold locks and "
            "snapshots, and each is served without a break; the CPU time of a transaction stays what it is.",
            worked.settings[0].value,
            wanting(case),
            case.cpus,
        )
    ]


def evidence(case: Case) -> list[Evidence]:
    """How many sessions want the CPUs, and how many are connected."""
    if case.time.of != "database" or not is_crowded(case):
        return []
    connected = case.total("pg_stat_activity.connections")
    told = phrase("{:.1f} sessions on a CPU or waiting for one, on average", wanting(case))
    why = phrase("{:.0f} are connected", connected) if connected is not None else ""
    limit = phrase("{:.0f}", CROWDED * case.cpus)
    return [Evidence("process", "command = 'postgres: client backend'", told, limit, why, "at_least")]
