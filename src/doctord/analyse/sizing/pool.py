"""A pool of connections: as many as work needs at the busiest, and no more than the CPUs can use."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Quantity, Step, larger, root, round_down, round_up

LITTLE: Final = 'J. D. C. Little, "A proof for the queuing formula L = lambda W", 1961'
UTILISATION: Final = (
    'Utilisation law: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", 1978'
)
BOUNDS: Final = 'Asymptotic bounds: E. D. Lazowska and others, "Quantitative System Performance", 1984, chapter 5'
STAFFING: Final = 'Square-root rule: S. Halfin and W. Whitt, "Heavy-traffic limits for queues with many servers", 1981'
FORMULA: Final = 'PostgreSQL wiki, "Number Of Database Connections"; HikariCP wiki, "About Pool Sizing"'

INPUTS: Final = (
    Input("rate", "requests", "per_s", "Transactions that need a connection, at the busiest: 800/s."),
    Input("held", "time held", "s", "Time that one holds its connection, waits with it: 12ms."),
    Input("cpu", "CPU time", "s", "Of that, time on a CPU of the database server: 4ms."),
    Input("cpus", "CPUs", "count", "CPUs of the database server."),
    Input(
        "limit",
        "utilisation limit",
        "share",
        "How busy the CPUs may be: 70%.",
        below=1.0,
        assumed=0.7,
        because="with 4 CPUs and more the wait for one is still short there; above, it grows fast",
    ),
    Input("pool", "connections", "count", "Connections now, of all clients together.", needed=False),
)


def pool(
    *,
    rate: Quantity,
    held: Quantity,
    cpu: Quantity,
    cpus: Quantity,
    limit: Quantity,
    pool: Quantity | None = None,
) -> Sizing:
    """Busy connections = rate x time held (Little); the CPUs are all busy with CPUs x time held / CPU time of them."""
    busy = (rate * held).step("connections busy on average", "count", LITTLE)
    peak = round_up(busy + 2 * root(busy)).step("connections for its swings", "count", STAFFING)
    load = (rate * cpu / cpus).step("CPUs busy", "share", UTILISATION)
    most = (limit * cpus / cpu).step("requests at the limit", "per_s", UTILISATION)
    useful = larger(cpus, round_down(cpus * held / cpu)).step("more are of no use", "count", BOUNDS)
    formula = (2 * cpus + 1).step("for comparison, 2 x CPUs + disks (one)", "count", FORMULA)
    wanted = min(peak.value, useful.value)
    overloaded = load.value > limit.value
    held_against = [pool.value <= useful.value and pool.value >= wanted] if pool else []
    return Sizing(
        f"{amount(wanted, 'count')} connections over all clients together; above "
        f"{amount(useful.value, 'count')} they only wait for a CPU.",
        known(busy, peak, load, most, useful, formula),
        (Setting("maximum pool size", f"{wanted:.0f}", "divided by the number of clients that have a pool"),),
        _cautions(load, limit, cpu, held),
        all(held_against) and not overloaded if held_against or overloaded else None,
    )


def _cautions(load: Step, limit: Quantity, cpu: Quantity, held: Quantity) -> tuple[str, ...]:
    return given_lines(
        load.value > limit.value
        and f"The CPUs would be {amount(load.value, 'share')} busy: no pool helps there. Less CPU for each request, or "
        "more CPUs.",
        cpu.value > held.value and "CPU time is above the time held: parallel workers, or one figure is wrong.",
        "2 x CPUs + disks knows neither how long requests wait for disks and locks, nor for the client between two "
        "statements, and was found on one machine with disks that turn: a start for a test, no answer.",
        "The time held grows with the pool once something saturates: take it from a time that was good, and check "
        "with a load test.",
    )


QUESTION: Final = Question("pool", "How many connections should a pool have?", INPUTS, pool)
