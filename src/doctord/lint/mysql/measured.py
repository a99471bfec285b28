"""What several rules ask of a server: its figures, its time, which of the two it is, and how long its disk takes."""

from typing import Final

from doctord.analyse.figures import Statistic, mean
from doctord.dataset.catalogue import MARIADB, MYSQL
from doctord.dataset.mysql_names import COMPONENT, STATUS
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Words
from doctord.lint.subject import Subject

STATEMENTS: Final = NotMeasured(
    "the time of the statements",
    "neither Query_time (MariaDB) nor sessions were seen",
    "doctord lint on the host, or two readings of SHOW GLOBAL STATUS under load",
)


def is_mariadb(subject: Subject) -> bool | None:
    """Whether it is MariaDB; null where its version is not known."""
    return {MARIADB: True, MYSQL: False}.get(subject.listed)


def figure(subject: Subject, name: str) -> float | None:
    """Mean of a global status: of a counter its increase per second; null where it was not read."""
    found = _figures(subject, STATUS + name)
    return found[0].mean if found else None


def latest(subject: Subject, name: str) -> float | None:
    """Last reading of a gauge: of the global status, or of `innodb_trx.sleeping` and the like."""
    found = _figures(subject, name if "." in name else STATUS + name)
    return found[0].last if found else None


def highest(subject: Subject, name: str) -> float | None:
    """Highest reading of a gauge of the global status; null where it was not read."""
    found = _figures(subject, STATUS + name)
    return found[0].largest if found else None


def working(subject: Subject) -> float | None:
    """Average number of sessions at work, which is the database time of a second; null where nobody tells.

    MariaDB adds up the time of its statements (`Query_time`). Elsewhere the running threads are counted, but for the
    one that asks.
    """
    if (spent := figure(subject, "query_time")) is not None:
        return spent
    if subject.is_measured:
        return subject.case.time.seconds_per_second
    running = figure(subject, "threads_running")
    return None if running is None else max(running - 1.0, 0.0)


def share(subject: Subject, seconds_per_s: float) -> float | None:
    """The share (0 to 1) of database time that so many seconds a second are; null where that time is not known."""
    whole = working(subject)
    return min(seconds_per_s / whole, 1.0) if whole else None


def is_felt(subject: Subject, seconds_per_s: float) -> bool:
    """Whether so much time is a part of the database time that a user could feel; unknown time is not felt."""
    part = share(subject, seconds_per_s)
    return part is not None and part >= WORTH_SAYING_SHARE and seconds_per_s >= WORTH_SAYING_SESSIONS


def read_s(subject: Subject) -> float | None:
    """Mean time of a read of a data file: as the server timed it, else as the disks did; null where nobody did."""
    return _waited_s(subject, "innodb_data_file read") or _of_disks(subject, "read_ms", "reads_per_s")


def write_s(subject: Subject) -> float | None:
    """Mean time of a write, of the redo log where the server timed it, else of the disks."""
    return _waited_s(subject, "innodb_log_file write") or _of_disks(subject, "write_ms", "writes_per_s")


def writes_binlog(subject: Subject) -> bool:
    """Whether there is a binary log: a file gives its name, a server ON."""
    return subject.text("log_bin") not in {None, ""} and subject.flag("log_bin") is not False


def evidence(name: str, figure: Words, threshold: Words, why: Words) -> Evidence:
    """Evidence from the global status."""
    return Evidence("statistic", f"name = '{STATUS}{name}'", figure, threshold, why)


def _figures(subject: Subject, name: str) -> list[Statistic]:
    """Figures of this server; a file of SHOW STATUS alone does not say of which port it is."""
    return [one for one in subject.case.figures(name) if one.db in {subject.db, COMPONENT}]


def _waited_s(subject: Subject, event: str) -> float | None:
    wait = subject.case.dataset.frame("wait")
    timed = wait.filter(wait["event"].fill_null("").str.ends_with(event) & wait["avg_wait_ms"].is_not_null())
    found = mean(timed.filter(timed["db"] == subject.db), "avg_wait_ms")
    return None if found is None else found / 1000


def _of_disks(subject: Subject, column: str, per_s: str) -> float | None:
    """Mean over the disks, each weighted by its requests."""
    disk = subject.case.dataset.frame("disk").drop_nulls([column, per_s])
    requests = float(disk[per_s].sum())
    return float((disk[column] * disk[per_s]).sum()) / requests / 1000 if requests else None
