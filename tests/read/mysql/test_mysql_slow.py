"""Slow query logs: made ones of each kind, and one that a real server wrote."""

import re
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from mariadb_server import running_mariadb
from reading import SAMPLES

SECRET = "hunter2"  # noqa: S105 - nothing is locked with it


def read(path: Path) -> Dataset:
    reading = read_file(path)
    assert reading.skipped_lines == 0
    return Dataset.from_batches(reading.batches)


def statements(dataset: Dataset) -> dict[str, dict[str, float]]:
    """Sums over the log by the statement's text."""
    columns = ("calls", "elapsed_s", "rows", "read_blocks", "hit_blocks")
    rows = (
        dataset.frame("statement")
        .group_by("text")
        .agg((pl.col(f"{column}_per_s") * pl.col("interval_s")).sum().alias(column) for column in columns)
    )
    return {row.pop("text"): row for row in rows.iter_rows(named=True)}


def figures(dataset: Dataset, text: str) -> dict[str, float]:
    """Sums over the log of what is counted of one statement."""
    ids = dataset.frame("statement").filter(pl.col("text") == text)["statement_id"].unique()
    rows = dataset.frame("statistic").filter(pl.col("entity").is_in(ids.to_list()))
    sums = rows.group_by("name").agg((pl.col("value") * pl.col("interval_s")).sum())
    return dict(sums.rows())


def test_mysql_8() -> None:
    dataset = read(SAMPLES / "mysql_slow.log")
    count = "SELECT count(*) FROM item WHERE name = ?;"
    update = "UPDATE item SET name = ? WHERE id = ?;"
    found = statements(dataset)
    assert set(found) == {count, update, "administrator command: Quit;"}
    assert found[count]["elapsed_s"] == pytest.approx(1.200512)
    assert found[count]["rows"] == pytest.approx(1)
    assert figures(dataset, count) == pytest.approx({"slow_log.rows_examined": 250000, "slow_log.lock_time": 0.000004})
    assert figures(dataset, update)["slow_log.failed"] == pytest.approx(1)
    assert figures(dataset, update)["slow_log.lock_time"] == pytest.approx(0.4)
    rows = dataset.frame("statement")
    assert set(rows["db"]) == {"mysql:3306"}
    assert dict(rows.select("text", "database").rows())[count] == "shop"
    assert rows["ts"].max().timestamp() == pytest.approx(1795254786.00012)  # where the last one ended
    assert rows["read_blocks_per_s"].null_count() == rows.height


def test_percona() -> None:
    dataset = read(SAMPLES / "percona.slow.log")
    (text,) = statements(dataset)
    assert figures(dataset, text) == pytest.approx(
        {
            "slow_log.rows_examined": 250000,
            "slow_log.lock_time": 0.000004,
            "slow_log.bytes_sent": 57,
            "slow_log.tmp_tables": 1,
            "slow_log.tmp_disk_tables": 1,
            "slow_log.tmp_table_sizes": 1048576,
            "slow_log.tmp_table": 1,
            "slow_log.tmp_table_on_disk": 1,
            "slow_log.full_scan": 1,
            "slow_log.filesort": 1,
            "slow_log.filesort_on_disk": 1,
            "slow_log.merge_passes": 3,
            "slow_log.innodb_reads": 100,
            "slow_log.innodb_read_bytes": 1638400,
            "slow_log.innodb_read_wait": 0.25,
            "slow_log.innodb_lock_wait": 0.01,
        }
    )


@pytest.mark.server
def test_a_real_server(tmp_path: Path) -> None:
    with running_mariadb(
        slow_query_log="ON", long_query_time=0, log_slow_verbosity="query_plan,explain,innodb"
    ) as server:
        server.execute(
            "CREATE DATABASE shop",
            "USE shop",
            "CREATE TABLE item (id int PRIMARY KEY, name varchar(100))",
            "INSERT INTO item SELECT seq, repeat('x', 50) FROM seq_1_to_3000",
            "COMMIT",
            f"SELECT name, count(*) FROM item WHERE name <> '{SECRET}' GROUP BY name ORDER BY 2",
            f"SELECT /* {SECRET} */ \"{SECRET}\", 'it\\'s {SECRET}', 1.5 # {SECRET}",
            "SELECT sleep(0.2)",
            f"SELECT 'two\n{SECRET}\n# Time: lines\n'",
        )
        (written,) = (server.folder / "data").glob("*-slow.log")
        path = tmp_path / "slow"
        path.write_bytes(written.read_bytes())
        dataset = read(path)
        assert set(dataset.frame("statement")["db"]) == {f"mysql:{server.port}"}
    text = path.read_text()
    assert SECRET in text
    assert SECRET not in "".join(dataset.frame(name).write_csv() for name in dataset.tables)
    found = statements(dataset)
    times = [float(seconds) for seconds in re.findall(r"Query_time: ([\d.]+)", text)]
    assert sum(row["calls"] for row in found.values()) == pytest.approx(len(times))
    assert sum(row["elapsed_s"] for row in found.values()) == pytest.approx(sum(times))
    assert dataset.frame("latency")["count"].sum() == len(times)
    assert found["SELECT sleep(?);"]["elapsed_s"] >= 0.2
    assert found["INSERT INTO item SELECT seq, repeat(?, ?) FROM seq_1_to_3000;"]["rows"] == pytest.approx(3000)
    assert "SELECT ?, ?, ?" in found
    grouped = "SELECT name, count(*) FROM item WHERE name <> ? GROUP BY name ORDER BY ?;"
    assert figures(dataset, grouped)["slow_log.full_scan"] == pytest.approx(1)
    examined = sum(map(int, re.findall(r"Rows_examined: (\d+)", text)))
    rows = dataset.frame("statistic").filter(pl.col("name") == "slow_log.rows_examined")
    assert (rows["value"] * rows["interval_s"]).sum() == pytest.approx(examined)
