"""What reading the plans of a server costs it, beside EXPLAIN of the same statements by hand.

    .venv/bin/python benchmarks/cost/plans.py

Eight statements on tables of 50,000 rows are explained as the collector does it, each by a temporary function of its
role in a transaction that is rolled back; and by hand: PREPARE and EXPLAIN EXECUTE. Medians of eleven rounds in turn;
the collector asks once an hour.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import closing

import psycopg
from paired import private_server
from psycopg.rows import dict_row

from doctord.collect.postgres.statistics.plans.explain import Asked, NotExplained, explain

TABLES = 200
STATEMENTS = tuple(
    f"SELECT a.id, b.note FROM t{n} AS a JOIN t{n + 1} AS b ON b.id = a.other WHERE a.kind = $1 AND b.at > $2"  # noqa: S608 - our own
    for n in range(8)
)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    print("| plans of eight statements | by hand | ratio |\n|---|---|---|")
    with private_server() as server:
        make(server.dsn)
        ours, by_hand = zip(*(once(server.dsn) for _ in range(rounds)), strict=True)
        own, hand = statistics.median(ours), statistics.median(by_hand)
        print(f"| {own:.1f} ms | {hand:.1f} ms | {own / hand:.1f} |", flush=True)


def make(dsn: str) -> None:
    """Tables for the statements, and many more."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE app")
        for n in range(TABLES):
            rows = 50_000 if n <= len(STATEMENTS) else 0
            connection.execute(
                f"CREATE TABLE t{n} AS SELECT id, id % 500 AS kind, id AS other, now() AS at, 'x'::text AS note "  # noqa: S608 - our own
                f"FROM generate_series(1, {rows}) AS id"
            )
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO app")
        connection.execute("ANALYZE")


def once(dsn: str) -> tuple[float, float]:
    """Milliseconds of both ways, each over a connection of its own."""
    return timed(dsn, as_collected), timed(dsn, as_by_hand)


def timed(dsn: str, way: Callable[["psycopg.Connection[dict[str, object]]"], None]) -> float:
    """Milliseconds that a way takes, with its connection."""
    began = time.perf_counter()
    with closing(psycopg.connect(dsn, autocommit=True, row_factory=dict_row)) as connection:
        way(connection)
    return (time.perf_counter() - began) * 1000


def as_collected(connection: "psycopg.Connection[dict[str, object]]") -> None:
    """As doctord does it."""
    for number, text in enumerate(STATEMENTS):
        told = explain(connection, Asked(1, "postgres", number, "app", text))
        assert not isinstance(told, NotExplained), told


def as_by_hand(connection: "psycopg.Connection[dict[str, object]]") -> None:
    """As somebody does it in psql."""
    connection.execute("SET plan_cache_mode = force_generic_plan")
    for text in STATEMENTS:
        connection.execute(f"PREPARE one AS {text}".encode())
        connection.execute("EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE one (NULL, NULL)").fetchall()
        connection.execute("DEALLOCATE one")


if __name__ == "__main__":
    main()
