"""The files that a trace is written to."""

from pathlib import Path

import pytest

from doctord.app.traces.examine import examined
from doctord.errors import UserError
from doctord.report.trace.files import contents
from traces import healthy, listener_before


def test_each_file_has_its_own_and_what_is_not_wanted_is_not_made() -> None:
    trace = listener_before()
    diagnosis = examined(trace).diagnosis
    made = dict(contents((Path("a.html"), Path("a.svg"), Path("a.txt")), trace, diagnosis))
    assert [text[:5].lower() for text in made.values()][:2] == ["<!doc", "<svg "]
    assert made[Path("a.txt")].splitlines()[0].split()[-1].isdigit()
    assert list(contents((None, None, None), trace, diagnosis)) == []


def test_without_a_whole_pass_there_is_no_timeline() -> None:
    trace = healthy()
    trace["timeline"] = None
    with pytest.raises(UserError, match="no whole pass of a loop"):
        list(contents((None, Path("a.svg"), None), trace, examined(trace).diagnosis))
