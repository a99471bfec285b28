"""A case: one dataset under examination, with the analyses that causes share, each done once."""

from functools import cached_property

import polars as pl

from doctord.analyse import figures, vitals
from doctord.analyse.backends import session_pids
from doctord.analyse.figures import Statistic, cpus_told
from doctord.analyse.host import other_processes, processes, short_lived
from doctord.analyse.locking import locks
from doctord.analyse.locking.lock_roots import Roots
from doctord.analyse.sql import role_settings, statements
from doctord.analyse.sql.top_time import Holder, top_time
from doctord.analyse.storage.other_storage import OtherStorage, other_storage
from doctord.analyse.time import (
    TimeModel,
    active_sessions,
    seconds_observed,
    seconds_of,
    time_model,
)
from doctord.analyse.traces import calls
from doctord.analyse.waits import Wait, background, foreground
from doctord.dataset.calltrace import Trace
from doctord.dataset.common_statistics import names_of
from doctord.dataset.dataset import Dataset
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, Impact, NotMeasured, measured
from doctord.diagnose.phrase import phrase, place_in

# A twentieth of the time is the least that a user could feel the removal of; a tenth of one session the least that
# is not the resting state of a quiet server.
WORTH_SAYING_SHARE = 0.05
WORTH_SAYING_SESSIONS = 0.1
# Tables with one row for the whole host at a time.
OF_A_HOST = ("cpu", "memory")
# Statistics that a server's log tells, also of one that lets nobody in.
OF_LOG = "log."


class Case:
    """What a cause is given: the dataset, figures derived from it, what was usual earlier, and a call trace."""

    def __init__(
        self, dataset: Dataset, earlier: Dataset | None = None, trace: Trace | None = None, servers: int = 0
    ) -> None:
        """Open a case on a dataset; `earlier` is the same host's dataset of a time before.

        `servers` is how many database servers the user named; 0: all that there are.
        `claims` is what causes said so far, each with the cause's name: for those that are asked last.
        """
        self.dataset = dataset
        self.earlier = earlier
        self.trace = trace
        self.servers = servers
        self.claims = list[tuple[str, Claim]]()
        self._means = dict[tuple[str, str], float | None]()
        self._told_once = dict[str, pl.DataFrame]()

    @cached_property
    def time(self) -> TimeModel:
        """Where the time went: of the database's sessions, or the processes; where they are not known, of the trace."""
        known = time_model(self.dataset)
        return known if self.trace is None or known.shares else calls.time_model(self.trace)

    @cached_property
    def seconds(self) -> float:
        """Seconds that the host was observed for; of what one source tells, its own time counts (`seconds_of`)."""
        return seconds_observed(self.dataset)

    @cached_property
    def process_seconds(self) -> float:
        """Seconds that processes were observed for."""
        return seconds_of(self.dataset, "process")

    @cached_property
    def cpus(self) -> int:
        """Number of CPUs seen, or told by a database, of all nodes of a cluster; 0 when the dataset holds neither."""
        seen = self.dataset.frame("cpu")["cpu"].drop_nulls().n_unique()
        return seen or sum(cpus_told(self.dataset).values())

    @cached_property
    def host_cpu(self) -> pl.DataFrame:
        """The whole-host rows of `cpu`."""
        return self.dataset.frame("cpu").filter(pl.col("cpu").is_null())

    @cached_property
    def active(self) -> pl.DataFrame:
        """Samples of active client sessions."""
        return active_sessions(self.dataset)

    def samples_of(self, one: statements.Statement) -> pl.DataFrame:
        """Those of a statement; no row where it was never met."""
        return self._active_by_statement.get((one.db, one.statement_id), self.active.clear())

    @cached_property
    def _active_by_statement(self) -> dict[tuple[object, ...], pl.DataFrame]:
        """Several causes ask for the samples of each of many statements: they are parted once."""
        return self.active.partition_by("db", "statement_id", maintain_order=True, as_dict=True)

    @cached_property
    def session_pids(self) -> pl.Series:
        """The processes of all sessions; null among them where one is not known."""
        return session_pids(self.dataset)

    @cached_property
    def processes(self) -> pl.DataFrame:
        """One row per process: see `doctord.analyse.host.processes`."""
        return processes.processes(self.dataset)

    @cached_property
    def other_processes(self) -> pl.DataFrame:
        """The processes that are not the database's and do not work for it."""
        return other_processes.other_processes(self.dataset, self.processes)

    @cached_property
    def short_lived(self) -> list[short_lived.ShortLived]:
        """Processes that started and ended between two samples, by name."""
        return short_lived.short_lived(self.dataset)

    @cached_property
    def cpu_users(self) -> pl.DataFrame:
        """The rows of `processes`, and a row for each name of those that lived too short to be among them."""
        return short_lived.as_processes(self.short_lived, self.processes)

    @cached_property
    def other_cpu_users(self) -> pl.DataFrame:
        """Those of them that are not the database's and do not work for it."""
        return other_processes.other_processes(self.dataset, self.cpu_users)

    @cached_property
    def blockers(self) -> list[locks.Blocker]:
        """Who others wait for, and waits for nobody, with all that wait behind: see `analyse.locks`."""
        return locks.blockers(self.dataset)

    def blockers_of(self, *kinds: str) -> list[locks.Blocker]:
        """Those of them behind whom others wait for some kinds of lock, with what waits so behind them."""
        return locks.blockers(self.dataset, self.time.events_of(*kinds))

    @cached_property
    def roots(self) -> Roots:
        """What the sessions do that others wait behind for locks: see `analyse.lock_roots`."""
        return Roots(locks.lock_waits(self.dataset), self.time)

    @cached_property
    def statements(self) -> list[statements.Statement]:
        """Statements that took part of the database time, largest share first."""
        return statements.statements(self.dataset)

    @cached_property
    def top(self) -> tuple[Holder, ...]:
        """Who holds most of the time, and of the work, by kind: see `doctord.analyse.sql.top_time`."""
        return top_time(self.dataset)

    @cached_property
    def usual(self) -> dict[str, vitals.Usual]:
        """What was usual earlier, by vital sign; empty without an earlier dataset."""
        return vitals.usual(self.earlier, self.seconds) if self.earlier else {}

    @cached_property
    def sampled_vitals(self) -> dict[str, vitals.Vital]:
        """The vital signs as samples of sessions alone tell them, as they are known of the past."""
        return vitals.sampled(self.dataset)

    @cached_property
    def vitals(self) -> dict[str, vitals.Vital]:
        """The vital signs of this dataset, by name."""
        return vitals.vitals(self.dataset, self.sampled_vitals)

    @cached_property
    def waits(self) -> dict[str, Wait]:
        """What client sessions waited for as the server counted it, by event; empty where waits were sampled."""
        return foreground(self.dataset)

    @cached_property
    def background(self) -> dict[str, Wait]:
        """What background processes waited for, likewise."""
        return background(self.dataset)

    @cached_property
    def other_storage(self) -> OtherStorage | None:
        """How little the disks that were seen serve of the database's reads; null where they may be its own."""
        return other_storage(self.dataset, self.waits)

    @cached_property
    def is_storage_test(self) -> bool:
        """Whether a test of the storage is among what was seen: it is meant to keep its devices busy."""
        return "fio" in self.dataset.frame("statistic")["component"]

    @cached_property
    def dbs(self) -> list[str]:
        """The database servers that were seen."""
        return sorted({db for table in ("session", "statistic", "wait") for db in self.dataset.values(table, "db")})

    @cached_property
    def asked(self) -> list[str]:
        """Those of them that told something themselves; of others there is only what stands in their log."""
        statistic = self.dataset.rows("statistic", ~pl.col("name").str.starts_with(OF_LOG), "db")
        counted = statistic["db"].drop_nulls().unique(maintain_order=True)
        return sorted({*self.dataset.values("session", "db"), *counted, *self.dataset.values("wait", "db")})

    @cached_property
    def components(self) -> set[str]:
        """The vendors of the database servers that were seen: postgresql, oracle, mysql."""
        return {db.partition(":")[0] for db in self.dbs}

    @cached_property
    def vendors(self) -> set[str]:
        """Whose servers run here: those that were seen, and the host's processes besides where none was."""
        if self.components:
            return self.components
        commands = pl.Series(self.dataset.values("process", "command"), dtype=pl.String)
        return {vendor for vendor, named in processes.COMMANDS.items() if commands.str.contains(named).any()}

    def figures(self, name: str) -> list[Statistic]:
        """Figures of that name in `statistic`, by server and entity, largest mean first."""
        return figures.figures(self.dataset, name)

    def figure(self, name: str, db: str | None, entity: str | None) -> Statistic | None:
        """The figure of that name of one entity of a server; of several instances the largest; null: not measured."""
        return next((figure for figure in self.figures(name) if (figure.db, figure.entity) == (db, entity)), None)

    def total(self, name: str, db: str | None = None) -> float | None:
        """Mean of a figure summed over its entities; null when it was not measured."""
        values = [figure.mean for figure in self.figures(name) if db is None or figure.db == db]
        return sum(values) if values else None

    def amount(self, name: str, db: str | None = None) -> float:
        """How many there were of what a rate counts, over its own time, summed over its entities."""
        rates = [figure for figure in self.figures(name) if db is None or figure.db == db]
        return sum(rate.mean * (rate.seconds or self.seconds) for rate in rates)

    def common(self, name: str, db: str | None = None) -> float | None:
        """Mean of a statistic that all vendors have (`dataset/common_statistics.py`); null when it was not measured."""
        values = [value for own in names_of(name) if (value := self.total(own, db)) is not None]
        return sum(values) if values else None

    def rows_of(self, common: str) -> str:
        """The condition that finds the rows of such a statistic, by the names under which it was measured."""
        names = [repr(own) for own in names_of(common) if self.figures(own)]
        return f"name = {names[0]}" if len(names) == 1 else f"name in ({', '.join(names)})"

    def setting_of_any(self, name: str) -> str | None:
        """Value of a database setting when all servers that were seen agree on it; null otherwise."""
        values = {value for db in self.dbs if (value := self.setting(name, db)) is not None}
        return values.pop() if len(values) == 1 else None

    def setting(self, name: str, db: str | None = None) -> str | None:
        """Value in force of a setting; null when it is not known."""
        return figures.setting(self.dataset, name, db)

    def setting_for(self, name: str, db: str, statement_id: str | None) -> str | None:
        """Value in force of a setting for those who run a statement most, by their role and database.

        Where samples do not tell who runs it, and where nothing is set for them, that of the server; null when neither
        is known.
        """
        if not role_settings.role_settings(self.dataset):
            return self.setting(name, db)  # as nearly everywhere: nobody need be looked for
        who = (one for one in role_settings.runners(self.dataset) if (one.db, one.statement_id) == (db, statement_id))
        first = next(who, None) if statement_id else None
        own = role_settings.in_force(self.dataset, db, first.user, first.database).get(name) if first else None
        return own.value if own else self.setting(name, db)

    def mean(self, table: str, column: str) -> float | None:
        """Mean of a column over the interval, weighted; null when it was not measured.

        Of a host as a whole (`cpu`, `memory`) each second counts once, also where several sources tell of it.
        """
        if (table, column) not in self._means:
            rows = self.host_cpu if table == "cpu" else self.dataset.frame(table)
            if table in OF_A_HOST and rows[column].null_count():
                rows = figures.told_once(rows.filter(pl.col(column).is_not_null()))
            elif table in OF_A_HOST:
                rows = self._once(table)
            self._means[table, column] = figures.mean(rows, column)
        return self._means[table, column]

    def _once(self, table: str) -> pl.DataFrame:
        """The rows of a host as a whole, each second of it once, where no figure of them is missing."""
        if table not in self._told_once:
            rows = self.host_cpu if table == "cpu" else self.dataset.frame(table)
            self._told_once[table] = figures.told_once(rows)
        return self._told_once[table]

    def database_time_s(self) -> float:
        """Database time in seconds over the interval: that of the time model, which the shares in it are of."""
        known = self.time.seconds_per_second * self.time.seconds if self.time.of == "database" else 0.0
        return known or float(self.active["interval_s"].sum() or 0.0)

    def waited(self, db: str, *wait_classes: str) -> float:
        """Share (0 to 1) of all database time that sessions of one server spent in some wait classes."""
        waiting = self.active.filter((pl.col("db") == db) & pl.col("wait_class").is_in(wait_classes))
        total = self.database_time_s()
        return float(waiting["interval_s"].sum()) / total if total else 0.0

    def worth_saying(self, share: float) -> bool:
        """Whether a share of the time is worth a finding: a part of it, and enough of it to be felt.

        A nearly idle server spends most of its little time somewhere, often on commits: that is no finding.
        """
        return share >= WORTH_SAYING_SHARE and share * self.time.seconds_per_second >= WORTH_SAYING_SESSIONS

    def beside_locks(self, share: float) -> float:
        """A share (0 to 1) of all time as one of the time in which nobody waits for a lock.

        A line of fifty sessions for one row makes all else look small that whoever is not in it waits for.
        """
        rest = 1 - self.time.kind_share(*locks.LOCKS)
        return min(share / rest, 1.0) if rest > 0 else share

    def worth_with_locks(self, share: float, *kinds: str) -> bool:
        """Whether a share of the time is worth a finding together with what waits for locks behind these kinds of wait.

        Of a queue for one row a single session waits for the log, and all others for the row.
        """
        return self.worth_saying(share + self.roots.behind(kinds))

    def felt(self, share: float) -> Impact:
        """A share of the time as an impact, where it is worth saying; else none yet, or none that was measured."""
        return measured(share) if self.worth_saying(share) else self.unfelt

    @property
    def is_time_measured(self) -> bool:
        """Whether it is known where the time of the database's sessions went, be it none."""
        return self.time.of == "database" and bool(self.time.shares or "active sessions" in self.vitals)

    @property
    def unfelt(self) -> Impact:
        """The impact of what no time of sessions is seen in: none yet where that time was measured."""
        return NONE_YET if self.is_time_measured else NOT_MEASURED

    def statement_text(self, statement_id: str | None) -> str | None:
        """Normalised text of a statement; null when the server did not give it."""
        if statement_id is None:
            return None
        known = self.dataset.frame("statement").filter(pl.col("statement_id") == statement_id)["text"].drop_nulls()
        return str(known.last()) if known.len() else None

    def not_measured(self, *subjects: str) -> tuple[NotMeasured, ...]:
        """What could not be read, about the subjects that a cause asks for (about all, when it names none)."""
        events = self.dataset.frame("event").filter(pl.col("kind") == "not measured")
        if subjects:
            events = events.filter(pl.col("subject").str.contains_any(list(subjects)))
        columns = events.select("subject", "text", "hint").unique(maintain_order=True)
        return tuple(NotMeasured(row[0] or "", row[1] or "", row[2] or "") for row in columns.iter_rows())

    def gaps(self) -> tuple[NotMeasured, ...]:
        """Times of which nothing, or not all, was recorded: of each subject the last, and how often there were such."""
        gaps = self.dataset.frame("event").filter(pl.col("kind") == "gap").sort("ts", maintain_order=True)
        found = gaps.group_by("subject", maintain_order=True).agg(pl.len(), pl.col("text", "hint").last())
        often = (
            (row, f"{row['len']} times, the last: " if row["len"] > 1 else "") for row in found.iter_rows(named=True)
        )
        return tuple(
            NotMeasured(row["subject"] or "", phrase("{}{}", times, row["text"]), row["hint"] or "")
            for row, times in often
        )

    def clock(self) -> tuple[NotMeasured, ...]:
        """What the clock of a call trace cannot carry."""
        if self.trace is None or calls.clock_s(self.trace) is None:
            return ()
        why = "the log has whole seconds only (strace -t): what is shorter is 0 or 1 s in it"
        return (
            NotMeasured("Calls shorter than a second", why, "strace -f -ttt -T: microseconds, and each call's length"),
        )

    def against_past(self, vital: str) -> tuple[Evidence, ...]:
        """How a vital sign compares with the earlier dataset, as evidence; empty when there is no past to compare."""
        now, past = self.sampled_vitals.get(vital), self.usual.get(vital)
        if now is None or past is None:
            return ()
        unlike = now.value > past.high
        return (
            Evidence(
                table="earlier",
                filter=vital,
                figure=phrase(f"{place_in('.3g', now.unit)} now", now.value),
                threshold=phrase(
                    "usually {:.3g}, seldom over {:.3g} {} ({} windows)", past.median, past.high, now.unit, past.windows
                ),
                why="out of its own range" if unlike else "as it was before",
            ),
        )
