"""CPUs that the server's own workers take, which no client asked for."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.starved import is_starved, severity
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

LOGICAL: Final = "pg_stat_replication.is_logical"
DECODED: Final = "pg_stat_replication_slots.total_bytes"
# Two fifths of all CPUs: what is left is then plainly too little for clients that need half.
MUCH: Final = 0.4


class Kind(NamedTuple):
    """A kind of process of the server: what it is at, and what to do about it."""

    name: str
    at: str
    step: str
    further: tuple[str, ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """How such processes are called: the name, and what newer servers call them."""
        return (self.name, *self.further)


WALSENDERS: Final = Kind(
    "walsender",
    "each decodes all of the log for its own slot",
    "First: fewer slots: one consumer (Kafka Connect, a hub) that hands on to the others. Each logical slot has a "
    "walsender of its own that decodes the whole log, whatever its publication leaves out; "
    "logical_decoding_work_mem larger where it spills.",
)
KINDS: Final = (
    WALSENDERS,
    Kind(
        "logical replication worker",
        "they apply what a publisher sends",
        "First: see what comes: rows changed a second of its tables, and whether they have a replica identity that an "
        "index serves; two subscriptions that send each other's changes back never come to rest.",
        tuple(f"logical replication {kind} worker" for kind in ("apply", "parallel apply", "tablesync")),
    ),
    Kind(
        "autovacuum worker",
        "they vacuum and analyse tables",
        "First: see which tables (pg_stat_progress_vacuum); fewer workers, a larger autovacuum_vacuum_cost_delay or a "
        "smaller cost_limit leave more to clients, and bloat more.",
    ),
)  # fmt: skip


@cause(explains=("cpu_saturated", "log_writer_preempted", "cpu_few_statements", "statement_dominates"))
def cpu_own_workers(case: Case) -> Iterator[Claim]:
    """The server's own workers take most of the CPUs, and clients wait for one.

    Looks like: no CPU is idle, and walsenders, apply workers or autovacuum workers together use two fifths of all CPU
        time and more; no session of a client has a share like it.
    Hurts because: they compute without a pause and serve nobody who waits: clients' short statements queue behind them.
    Speaks for it: CPU time of the workers, by kind; logical slots whose walsenders decode; what they decode a second.
    Speaks against it: idle CPUs: then nobody waits for them.
    Remedy: See what they are at, and have less of it.
    Verify: Their CPU time falls, and the run queue's share of the time with it.
    Source: PostgreSQL documentation, "Logical Decoding Concepts" (a slot streams all changes of a database),
        pg_stat_replication_slots, "Logical Replication", "The Autovacuum Daemon".
    """
    if not is_starved(case) or not case.cpus or not case.process_seconds:
        return
    whole_s = case.cpus * case.process_seconds
    for kind in KINDS:
        own = case.processes.filter(pl.col("command").is_in([f"postgres: {name}" for name in kind.titles]))
        used = float(own["cpu_s"].sum()) / whole_s
        if used < MUCH or (kind is WALSENDERS and not _decode(case)):
            continue
        waiting = case.time.kind_share("run queue")
        yield Claim(
            phrase("{:,.0f} {}{} take {:share} of the CPUs: {}", own.height, kind.name, "s" if own.height > 1 else "",
                   used, kind.at),
            impact=waiting,
            confidence=0.85,
            severity=severity(case, waiting),
            for_=[
                Evidence("process", f"command = 'postgres: {kind.name}'",
                         phrase("{:share} of the host's CPU time", used), phrase("{:share}", MUCH),
                         "no client asked for it", "at_least"),
                *(_decoding(case) if kind is WALSENDERS else []),
            ],
            first_steps=[kind.step],
        )  # fmt: skip


def _decode(case: Case) -> bool:
    return any(one.last for one in case.figures(LOGICAL))


def _decoding(case: Case) -> list[Evidence]:
    """The slots that are decoded for, and how much."""
    slots = [one for one in case.figures(LOGICAL) if one.last]
    amounts = [one.mean for one in case.figures(DECODED)]
    return [
        Evidence("statistic", f"name = '{LOGICAL}'", phrase("{:count logical stream/streams}", len(slots)), "",
                 phrase("{:bytes/s} of changes handed on, all together", sum(amounts)) if amounts else "")
    ]  # fmt: skip
