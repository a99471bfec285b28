"""A query reads the lake, and nothing else: whatever would reach out of it or change anything is refused."""

import tarfile
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.mcp.query_process import MOST_ROWS
from doctord.mcp.tools.query import query_lake

RECORDING = Path(__file__).parents[1] / "lab/recordings/idle_in_transaction.tar"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("query") / "shop"
    with tarfile.open(RECORDING) as recording:
        recording.extractall(path, filter="data")
    return path


def test_rows_are_counted_and_cut(lake: Path) -> None:
    assert query_lake([lake], sql="SELECT 1 AS one")["rows"] == [{"one": 1}]
    many = query_lake([lake], sql="SELECT range AS n FROM range(100000)")
    assert many["more"]
    assert len(many["rows"]) + many["left_out"].get("rows", 0) == MOST_ROWS
    assert query_lake([lake], sql="DESCRIBE session")["rows"][0]["column_name"] == "ts"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_parquet('https://example.org/a.parquet')",
        "SELECT * FROM glob('/etc/*')",
        "COPY (SELECT 1) TO '/tmp/doctord-escaped'",
        "ATTACH '/tmp/doctord-escaped.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA enable_external_access=true",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "RESET lock_configuration",
        "CREATE TABLE t AS SELECT 1",
        "DELETE FROM session",
        "EXPORT DATABASE '/tmp/doctord-escaped'",
        "CALL pragma_version()",
        "SELECT 1; SELECT 2",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/doctord-escaped'",
        "SELECT getenv('HOME')",
        "",
    ],
)
def test_nothing_gets_out(lake: Path, sql: str) -> None:
    with pytest.raises(UserError):
        query_lake([lake], sql=sql)
    assert not list(Path("/tmp").glob("doctord-escaped*"))  # noqa: S108 - where the query would have written


@pytest.mark.slow
def test_a_query_that_needs_too_much_is_ended(lake: Path) -> None:
    with pytest.raises(UserError, match=r"[Mm]emory"):
        query_lake([lake], sql="SELECT list(range) FROM range(200000000)")
