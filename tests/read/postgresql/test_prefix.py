"""Any log_line_prefix is found out from the lines."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from latency_files import read_text

BEGUN = datetime(2026, 11, 21, 9, 30, 10, tzinfo=UTC)
STATEMENTS = 5
IN_ANY_CASE = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TIMES = st.sampled_from(["%m", "%t", "%n"])
ESCAPES = st.sampled_from(
    ["%p", "%u", "%d", "%a", "%h", "%r", "%l", "%c", "%x", "%v", "%i", "%e", "%s", "%b", "%q", "%%", "db=%d", "%u@%d"]
)
SIGNS = st.sampled_from([" ", " ", ",", "|", ":", " [", "] ", "/", ";", "-", "<", "> ", ": ", "user=", "(", ") "])


def written(prefix: str, moment: datetime, *, client: bool, pid: int = 4711) -> str:
    """The prefix of a line as the server writes it."""
    session = f"{int(BEGUN.timestamp()):x}.{pid:x}"
    values = {
        "m": f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03} UTC",
        "t": f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        "n": f"{moment.timestamp():.3f}",
        "s": f"{BEGUN - timedelta(hours=1):%Y-%m-%d %H:%M:%S} UTC",
        "p": str(pid),
        "l": "7",
        "c": session,
        "x": "0",
        "e": "00000",
        "b": "client backend" if client else "checkpointer",
        "v": "3/12" if client else "",
        "%": "%",
    }
    of_clients = {"u": "ann", "d": "shop", "a": "my app", "h": "10.0.0.7", "r": "10.0.0.7(53422)", "i": "SELECT"}
    values |= of_clients if client else dict.fromkeys(of_clients, "")
    text, rest = "", prefix
    while rest:
        if rest.startswith("%q"):
            if not client:
                return text
            rest = rest[2:]
        elif rest[0] == "%":
            text, rest = text + values[rest[1]], rest[2:]
        else:
            text, rest = text + rest[0], rest[1:]
    return text


def log_with(prefix: str) -> str:
    """Statements of a client, and what a background process says, a second apart."""
    lines = []
    for number in range(STATEMENTS):
        moment = BEGUN + timedelta(seconds=number, milliseconds=250)
        client, background = (written(prefix, moment, client=is_client) for is_client in (True, False))
        lines += [
            f"{client}LOG:  connection authorized: user=ann database=shop application_name=my app",
            f"{client}LOG:  duration: 1.500 ms  statement: SELECT {number}",
            f"{background}LOG:  checkpoint starting: time",
            f"{client}ERROR:  division by zero",
            f"{client}STATEMENT:  SELECT {number} / 0",
        ]
    return "\n".join([*lines, ""])


@IN_ANY_CASE
@given(
    before=st.lists(st.tuples(SIGNS, ESCAPES), max_size=3),
    time=TIMES,
    after=st.lists(st.tuples(SIGNS, ESCAPES), max_size=6),
    last=SIGNS,
)
def test_a_random_prefix(
    tmp_path: Path, before: list[tuple[str, str]], time: str, after: list[tuple[str, str]], last: str
) -> None:
    parts = [sign + escape for sign, escape in before if escape != "%q"]
    prefix = "".join([*parts, " ", time, *(sign + escape for sign, escape in after), last])
    reading = read_text(tmp_path, log_with(prefix))
    assert reading.skipped_lines == 0
    dataset = Dataset.from_batches(reading.batches)
    rows = dataset.frame("statistic").with_columns(sum=pl.col("value") * pl.col("interval_s"))
    sums = dict(rows.group_by("name").agg(pl.col("sum").sum()).rows())
    assert sums["log.messages"] == pytest.approx(4 * STATEMENTS)
    assert sums["log.errors"] == pytest.approx(STATEMENTS)
    assert sums["pg_stat_checkpointer.num_timed"] == pytest.approx(STATEMENTS)
    milliseconds = 0 if time == "%t" else 250
    end = BEGUN + timedelta(seconds=STATEMENTS - 1, milliseconds=milliseconds)
    statement = dataset.frame("statement")
    assert statement["ts"].to_list() == [end]
    assert statement["text"].to_list() == ["SELECT ?"]
    assert set(statement["database"]) <= {"shop", None}


@pytest.mark.parametrize(
    "prefix",
    [
        "%m [%p] %q%u@%d ",
        "%t:%r:%u@%d:[%p]:",
        "%m [%p]: user=%u,db=%d,app=%a,client=%h ",
        "%t [%p]: [%l-1] user=%u,db=%d ",
        "%n|%p|%u|%d|",
        "< %m %u %d >",
        "%u %d %m ",
        "%s %t %c %d ",
        "%m %e %d: ",
        "[%t] %q(%d) ",
        "%m: %d/%u ",
    ],
)
def test_the_database_is_found(tmp_path: Path, prefix: str) -> None:
    dataset = Dataset.from_batches(read_text(tmp_path, log_with(prefix)).batches)
    assert set(dataset.frame("statement")["database"]) == {"shop"}


def test_a_prefix_without_a_time_is_refused(tmp_path: Path) -> None:
    text = log_with("%m [%p] ") + "[12] LOG:  no time here\n"
    reading = read_text(tmp_path, text)
    assert [skipped.line for skipped in reading.skipped] == [26]
    assert "log_line_prefix has neither" in reading.skipped[0].reason


def test_a_file_without_a_prefix_tells_no_rates(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("LOG:  checkpoint starting: time\n")
    rows = Dataset.from_batches(read_file(file).batches).frame("statistic").select("name", "interval_s", "value").rows()
    assert ("in_all.pg_stat_checkpointer.num_timed", None, 1.0) in rows
