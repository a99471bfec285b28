"""The JSON document of a trace is put together of the trace, its findings and what changed."""

import pytest

import traces
from doctord.analyse.traces.calls_compared import compare
from doctord.app.traces.examine import examined
from doctord.report.trace.document import document


def test_loops_beside_the_one_that_matters_stand_without_steps_and_path() -> None:
    trace = traces.healthy(loops=[traces.loop(pid=7)])
    told = document(trace, examined(trace).diagnosis)
    assert {"steps", "path"} <= set(told["loop"])
    assert set(told["loop"]) - set(told["loops"][0]) == {"steps", "path"}
    assert trace["loops"][0]["steps"]


def test_without_a_comparison_there_is_no_trace_before() -> None:
    trace = traces.healthy()
    told = document(trace, examined(trace).diagnosis)
    assert (told["schema_version"], told["comparison"], told["before"], told["findings"]) == (2, None, None, [])


@pytest.mark.parametrize("key", ["findings", "comparison", "before", "schema_version"])
def test_the_trace_before_has_the_keys_of_a_trace_alone(key: str) -> None:
    before, after = traces.healthy(loops=[traces.loop(pid=7)]), traces.healthy()
    told = document(after, examined(after).diagnosis, compare(before, after), before=before)
    assert key in told
    assert key not in told["before"]
    assert "path" not in told["before"]["loops"][0]
    assert told["comparison"]["per"] == "pass"
