"""Settings of MariaDB and MySQL for temporary tables and the query cache."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import Words, phrase
from doctord.lint.mysql.measured import evidence, figure, is_mariadb
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

_OFTEN: Final = 10.0  # reading settings and status makes one or two a second by itself


@rule("mysql")
def temporary_tables_cut(subject: Subject) -> Iterator[Violation]:
    """One of the two limits on temporary tables makes the other one useless.

    Why: a temporary table in memory may grow to the lesser of tmp_table_size and max_heap_table_size; what the larger
        one says is not in force.
    Evidence: both settings.
    Fix: Set both to the same.
    Verify: SHOW GLOBAL VARIABLES LIKE 'tmp_table_size' and 'max_heap_table_size'.
    Source: MySQL Reference Manual, 10.4.4 Internal Temporary Table Use in MySQL; MariaDB documentation, tmp_table_size.
    """
    wanted, most = subject.get("tmp_table_size"), subject.number("max_heap_table_size")
    if wanted is None or wanted.number is None or most is None or not wanted.is_set or wanted.number <= most:
        return
    if "temptable" in (subject.text("internal_tmp_mem_storage_engine") or "").lower():
        return
    yield subject.violation(
        phrase("tmp_table_size = {:bytes} is ignored: max_heap_table_size = {:bytes}", wanted.number, most),
        "tmp_table_size",
        "max_heap_table_size",
        cost=phrase("tables of more than {:bytes} go to disk, though {:bytes} are allowed", most, wanted.number),
        severity=Severity.WARNING,
        changes=[subject.change("max_heap_table_size", f"{wanted.number:.0f}")],
    )


@rule("mysql")
def temporary_tables_on_disk(subject: Subject) -> Iterator[Violation]:
    """Statements write temporary tables to disk.

    Why: a temporary table that outgrows its limit, or holds a column that memory tables cannot, is written as a file.
    Evidence: Created_tmp_disk_tables a second.
    Fix: Find the statements (sum_created_tmp_disk_tables in the statement digests); an index for their ORDER BY or
        GROUP BY helps more than memory. Else raise tmp_table_size and max_heap_table_size.
    Verify: Created_tmp_disk_tables a second falls, and so does the time of these statements.
    Source: MySQL Reference Manual, 10.4.4 Internal Temporary Table Use in MySQL.
    """
    on_disk, made = figure(subject, "created_tmp_disk_tables"), figure(subject, "created_tmp_tables")
    size = subject.number("tmp_table_size")
    if on_disk is None or made is None or size is None or on_disk < _OFTEN:
        return
    yield subject.violation(
        phrase("tmp_table_size = {:bytes}: {:rate temporary tables} are written to disk", size, on_disk),
        "tmp_table_size",
        "max_heap_table_size",
        cost=f"{CANNOT_JUDGE}: collect the statement digests of the performance schema, which have their time",
        severity=Severity.NOTE,
        evidence=[
            evidence(
                "created_tmp_disk_tables",
                phrase("{:rate}", on_disk),
                phrase("{:rate} made", made),
                "files were written",
            )
        ],
    )


@rule("mysql")
def query_cache_useless(subject: Subject) -> Iterator[Violation]:
    """The query cache costs more than it gives: results are stored that nobody reads.

    Why: one lock guards the whole query cache, and every change of a table throws its results away under it. Where
        fewer results are read than stored, all of that is loss.
    Evidence: Qcache_hits against Qcache_inserts a second.
    Fix: Set query_cache_type = OFF and query_cache_size = 0.
    Verify: threads no longer show `Waiting for query cache lock`; statements a second do not fall.
    Source: MariaDB documentation, Query Cache; MySQL 8.0 Release Notes (removal of the query cache).
    """
    kind, size = (subject.text("query_cache_type") or "OFF").upper(), subject.number("query_cache_size")
    hits, stored = figure(subject, "qcache_hits"), figure(subject, "qcache_inserts")
    if kind in {"OFF", "0"} or not size:
        return
    if hits is None or stored is None:
        cost: Words = f"{CANNOT_JUDGE}: collect Qcache_hits and Qcache_inserts of SHOW GLOBAL STATUS"
        severity = Severity.NOTE
    elif not stored or hits >= stored:
        return
    else:
        cost = phrase("{:rate results} are stored under one lock, {:rate} are read", stored, hits)
        severity = Severity.WARNING
    yield subject.violation(
        f"query_cache_type = {kind}: results are stored under one lock for all sessions",
        "query_cache_type",
        "query_cache_size",
        cost=cost,
        severity=severity,
        evidence=[
            evidence(
                "qcache_hits", phrase("{:rate}", hits), phrase("{:rate}", stored or 0.0), "stored more often than read"
            )
        ]
        if hits is not None
        else (),
        changes=[subject.change("query_cache_type", "OFF"), subject.change("query_cache_size", "0")],
    )


@rule("mysql")
def query_cache_on_by_its_size(subject: Subject) -> Iterator[Violation]:
    """The query cache is on although it is turned off: a size above 0 turns it on.

    Why: MariaDB takes a query_cache_size in an option file for the wish to use it, and ignores query_cache_type = OFF
        beside it.
    Evidence: both settings as the file has them; seen with MariaDB 10.11.
    Fix: Set query_cache_size = 0, or leave it out.
    Verify: SHOW GLOBAL VARIABLES LIKE 'query_cache_type' is OFF after a restart.
    Source: MariaDB documentation, Query Cache; a trial with MariaDB 10.11.19.
    """
    written = {one.name: one for one in subject.rows if not one.is_running}
    kind, size = written.get("query_cache_type"), written.get("query_cache_size")
    if is_mariadb(subject) is False or kind is None or size is None or kind.flag is not False or not size.number:
        return
    yield subject.violation(
        phrase(
            "query_cache_type = {} is ignored: query_cache_size = {:bytes} turns the cache on", kind.value, size.number
        ),
        settings=[kind, size],
        cost="every statement takes the one lock of the query cache, which is meant to be off",
        severity=Severity.WARNING,
        changes=[subject.change("query_cache_size", "0")],
    )
