"""From "users complain" to the cause without a language model: a script that takes what the tools themselves offer.

It asks for the servers, has the window diagnosed, and takes the worst finding that nothing else explains, as
the server's instructions say. What it reaches for every recorded fault of the lab is what an assistant could.
"""

import os
import tarfile
from pathlib import Path

import pytest

from doctord.lab.fault import all_faults
from doctord.mcp.fitted import MOST_BYTES, size
from doctord.mcp.tools import TOOLS

# The lab names its one server; a lake holds the whole host, and a second server on it was slow to let clients in.
OF_ANOTHER_SERVER = {"analyze_run", "cpu_quota_enough", "index_built", "neighbour_fills", "neighbour_rewrites"}
# Every verdict is judged in tests/lab/test_recordings.py already: here a sixth of them shows the way to it.
WALKED = sorted(all_faults())[:: 1 if os.environ.get("DOCTORD_WALK") == "all" else 6]
RECORDINGS = Path(__file__).parents[1] / "lab/recordings"


def walked(lake: Path) -> str | None:
    """The cause at which the walk ends; null where nothing is wrong."""
    [held] = TOOLS["servers"]([lake])["lakes"]
    window = {"since": _before(held["since"]), "until": held["until"]}
    verdict = TOOLS["diagnose"]([lake], **window)
    assert size(verdict) <= MOST_BYTES
    if verdict["health"] == "healthy":
        return None
    worst = next(one for one in verdict["findings"] if not one["explained_by"])
    told = TOOLS["explain_finding"]([lake], cause=worst["cause"], **window)
    assert size(told) <= MOST_BYTES
    assert told["for_"]
    assert told["remedy"]
    assert told["verify"]
    return str(told["finding"]["cause"])


def _before(moment: str) -> str:
    """A lake is asked for what ends after a moment: one second before its first row."""
    second = moment.partition(".")[0]
    return f"{second}Z"


@pytest.mark.slow
@pytest.mark.parametrize("fault", WALKED)
def test_the_walk_ends_at_the_injected_cause(fault: str, tmp_path: Path) -> None:
    with tarfile.open(RECORDINGS / f"{fault}.tar") as recording:
        recording.extractall(tmp_path, filter="data")
    reached = "clients_wait_to_connect" if fault in OF_ANOTHER_SERVER else all_faults()[fault].cause
    assert walked(tmp_path) == reached
