"""Oracle's hard parses one by one."""

from pathlib import Path

from doctord.dataset.dataset import Dataset
from latency_files import read_text

LINES = """Start tracing Oracle hard parsing... Hit Ctrl-C to end.
12:47:15  pid=123 len=25 sql=select 'secret'
  from dual where a = 7
12:47:16  pid=124 len=5 sql=begin
...
"""


def test_statements_lose_their_constants(tmp_path: Path) -> None:
    dataset = Dataset.from_batches(read_text(tmp_path, LINES).batches)
    assert dataset.frame("event").select("kind", "subject", "text").rows() == [
        ("hard parse", "pid 123", "select ? from dual where a = ?"),
        ("hard parse", "pid 124", "begin"),
    ]
