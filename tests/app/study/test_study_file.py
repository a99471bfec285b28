from pathlib import Path

import pytest

from doctord.app.study.study_file import is_study_file, of_file
from doctord.errors import UserError
from doctord.read.source import ReadOptions
from heard import Heard

WAITS = "event,before_waits_per_s,before_avg_ms,after_waits_per_s,after_avg_ms\nlog file sync,72,26.45,519,2.13\n"
COMMITS = "statistic,unit,before,after\nuser commits,per_s,72,520\n"
FILE = """
question = "Are commits faster?"
change = "log_buffer"
folder = "redo"
targets = ["commit_ms < 5"]
verdict = "worse"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "redo").mkdir()
    (tmp_path / "redo" / "waits.csv").write_text(WAITS)
    (tmp_path / "redo" / "stats.csv").write_text(COMMITS)
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    return path


def test_a_study_file_is_run_from_its_own_folder_and_a_verdict_that_changed_is_said(file: Path) -> None:
    heard = Heard()
    found = of_file(file, ReadOptions(), heard)
    assert is_study_file(file)
    assert (found.verdict, found.question.text, found.missed) == ("better", "Are commits faster?", [])
    assert any("the verdict was 'worse', and is 'better' now" in line for line in heard.notes)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("question = ", "no study file"),
        ('colour = "red"', "no key 'colour'"),
        ("before = 1", "before is no text"),
        ('targets = "commit_ms < 2"', "targets is no list of texts"),
        ('question = "?"', "no before and after"),
        ('folder = "nowhere"', "nowhere"),
    ],
)
def test_what_is_no_study_file_is_refused(file: Path, text: str, what: str) -> None:
    file.write_text(text)
    with pytest.raises(UserError, match=what):
        of_file(file, ReadOptions())
