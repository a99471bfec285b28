"""Load: sessions, transactions and what they cost, new connections."""

import polars as pl

from doctord.analyse import figures
from doctord.analyse.sizing.found.finder import Found, Measured, finds, highest, setting
from doctord.analyse.time import RUN_QUEUE, time_model
from doctord.analyse.traces import calls
from doctord.dataset.common_statistics import names_of


@finds("sessions")
def _sessions(seen: Measured) -> Found:
    """Sessions connected (numbackends of PostgreSQL, logons current of Oracle), at the most."""
    dataset = seen.dataset.frame("statistic").filter(pl.col("name") == "pg_stat_database.numbackends")
    if dataset.height:
        most = dataset.group_by("ts", "db", maintain_order=True).agg(pl.col("value").sum())["value"].max()
        return float(most), "measured: numbackends, at the most"  # type: ignore[arg-type]
    return highest(seen, "v$sysstat.logons current")


@finds("sessions allowed")
def _allowed(seen: Measured) -> Found:
    """The settings max_connections (PostgreSQL), sessions, processes (Oracle)."""
    return setting(seen, max_connections="", sessions="", processes="")


@finds("CPUs")
def _cpus(seen: Measured) -> Found:
    """CPUs that were seen, or NUM_CPUS of Oracle's reports."""
    count = seen.dataset.frame("cpu")["cpu"].drop_nulls().n_unique()
    return (float(count), "measured: CPUs seen") if count else highest(seen, "v$osstat.NUM_CPUS")


@finds("requests")
def _requests(seen: Measured) -> Found:
    """Transactions per second: xact_commit of PostgreSQL, user commits of Oracle, handler_commit of MySQL."""
    for name in names_of("commits"):
        if found := figures.figures(seen.dataset, name):
            return sum(one.mean for one in found), f"measured: {name}, on average"
    return None


@finds("time held")
def _held(seen: Measured) -> Found:
    """Database time of a transaction (Oracle's reports, sessions sampled), without the run queue where measured."""
    model = time_model(seen.dataset)
    queueing = model.share(*RUN_QUEUE)
    what = "database time without the run queue" if queueing else "database time"
    return _each(seen, model.seconds_per_second * (1 - queueing), what)


@finds("CPU time")
def _cpu(seen: Measured) -> Found:
    """CPU time of a transaction (DB CPU of Oracle's reports; that of PostgreSQL's client backends, by the kernel)."""
    found = figures.figures(seen.dataset, "v$sys_time_model.DB CPU")
    model = time_model(seen.dataset)
    if not found and model.of == "database" and model.share(*RUN_QUEUE):
        return _each(seen, model.seconds_per_second * model.share("CPU", "CPU"), "CPU time of client backends")
    return _each(seen, sum(one.mean for one in found), "DB CPU")


@finds("time of a pass")
def _pass(seen: Measured) -> Found:
    """A call trace with the loop of the server (truss, strace)."""
    length_s = calls.pass_s(seen.trace) if seen.trace else None
    return None if length_s is None else (length_s, "traced: a pass of the loop")


@finds("backlog")
def _backlog(seen: Measured) -> Found:
    """The backlog of listening sockets, and the kernel's net.core.somaxconn."""
    found = figures.figures(seen.dataset, "listen.backlog")
    if found:
        return min(one.last for one in found), "measured: the smallest backlog of a listening socket"
    return setting(seen, **{"net.core.somaxconn": ""})


def _each(seen: Measured, spent: float, what: str) -> Found:
    """Seconds per second, divided by transactions per second."""
    rate = _requests(seen)
    if rate is None or isinstance(rate[0], tuple) or not rate[0] or not spent:
        return None
    return spent / rate[0], f"measured: {what} / transactions"
