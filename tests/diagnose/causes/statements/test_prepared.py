"""Transactions that stand in their commit, by one output of InnoDB's monitor."""

from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.read.mysql.innodb_status import NAME
from doctord.report.phrases import said

BEGINS = """\
=====================================
261120 10:00:00 INNODB MONITOR OUTPUT
=====================================
Per second averages calculated from the last 19 seconds
------------
TRANSACTIONS
------------
Trx id counter 7C6E3B00
History list length 426
"""
PREPARED = """\
---TRANSACTION 7C6E3AF{n}, ACTIVE (PREPARED) {age} sec, process no 3907, OS thread id 19568{n}
2 lock struct(s), heap size 376, 1 row lock(s), undo log entries 1
MySQL thread id 4{n}, query id 90{n} web1 10.0.0.1 app
commit
"""
ENDS = """\
----------------------------
END OF INNODB MONITOR OUTPUT
============================
"""


@pytest.mark.parametrize(
    ("count", "age", "title"),
    [
        (6, 4, "6 transactions stand in their commit, the oldest 4 s old"),
        (2, 4, None),
        (6, 0, None),
    ],
)
def test_a_queue_of_commits_at_one_moment(tmp_path: Path, count: int, age: int, title: str | None) -> None:
    file = tmp_path / "status.txt"
    file.write_text(BEGINS + "".join(PREPARED.format(n=n, age=age) for n in range(count)) + ENDS)
    findings = diagnose(Dataset.from_batches(read_file(file).batches)).findings
    assert next((said(one.title) for one in findings if one.cause == "commits_slow"), None) == title


def test_a_piece_of_a_monitor_whose_deadlock_comes_late_is_read(tmp_path: Path) -> None:
    views = "".join(f"Read view trx id 3EF8F{n:03}\n" for n in range(40))
    latest = "------------------------\nLATEST DETECTED DEADLOCK\n------------------------\n261120  7:11:10\n"
    transaction = (
        "*** (1) TRANSACTION:\nTRANSACTION 3EF8, ACTIVE 0 sec inserting\n"
        "MySQL thread id 13, OS thread handle 0x7f, query id 40 localhost app executing\nINSERT INTO t VALUES ('a')\n"
    )
    file = tmp_path / "piece.txt"
    file.write_text(views + latest + transaction)
    reading = read_file(file)
    assert reading.format == NAME
    (finding,) = diagnose(Dataset.from_batches(reading.batches)).findings
    assert finding.cause == "deadlocks_reported"
