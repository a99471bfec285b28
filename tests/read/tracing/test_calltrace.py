"""Call traces are read by the native crate; what it refuses is said."""

import gzip
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.tracing.calltrace import parts_of_one, read

LOG = """\
100 1700000000.000000 getpid() = 100 <0.000010>
100 1700000000.100000 read(3</etc/hosts>, "127"..., 4096) = 512 <0.000200>
100 1700000000.200000 exit_group(0) = ?
100 1700000000.200100 +++ exited with 0 +++
"""


@pytest.mark.parametrize("compressed", [False, True])
def test_a_log_becomes_a_document(tmp_path: Path, *, compressed: bool) -> None:
    file = tmp_path / "log"
    file.write_bytes(gzip.compress(LOG.encode()) if compressed else LOG.encode())
    seen: list[int] = []
    trace = read([file], watch=seen.append)
    assert (trace["trace"]["tool"], trace["trace"]["calls"], trace["trace"]["processes"]) == ("strace", 3, 1)
    assert [(target["target"], target["read_bytes"]) for target in trace["targets"]] == [("/etc/hosts", 512)]
    assert seen


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none: No such file or directory$"):
        read([tmp_path / "none"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\0\1\2" * 1000, "holds binary data"),
        (b"Nov 20 cron[1]: started\n" * 50, "is no call trace"),
    ],
)
def test_what_is_no_trace_is_refused_with_a_hint(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "log"
    file.write_bytes(content)
    with pytest.raises(UserError, match=message) as refused:
        read([file])
    assert refused.value.hint


@pytest.mark.parametrize(
    ("names", "together"),
    [
        (["trace.123", "trace.124"], True),
        (["a/trace.123.gz", "a/trace.124.gz"], True),
        (["before.truss", "after.truss"], False),
        (["before.123", "after.124"], False),
        (["a/trace.123", "b/trace.124"], False),
        (["trace.123", "trace"], False),
    ],
)
def test_files_by_process_are_one_trace(names: list[str], *, together: bool) -> None:
    assert parts_of_one([Path(name) for name in names]) is together
