"""Memory that the system refuses: by a limit of the processes, by what the host promises, or by neither."""

import pytest

from diagnose.causes.service.test_failing import failing, found
from diagnose.hosts import DB
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

OUT = "ERROR 53200 out of memory"
MIB = 2**20
NO_LIMIT = {(None, "limits.open_files"): 1024.0}
LIMITED = NO_LIMIT | {
    (None, "limits.address_space_bytes"): 700.0 * MIB, (None, "limits.address_space_used_bytes"): 640.0 * MIB,
}  # fmt: skip
PROMISED = NO_LIMIT | {
    (None, "limits.committed_bytes"): 7900.0 * MIB, (None, "limits.commit_limit_bytes"): 8000.0 * MIB
}  # fmt: skip


def of(postgres: dict[tuple[str | None, str], float], overcommit: str | None = "0") -> Finding:
    kernel = (
        [] if overcommit is None else [{"component": "kernel", "name": "vm.overcommit_memory", "value": overcommit}]
    )
    return found(failing({OUT: 5.0}, postgres=postgres, setting=kernel))["out_of_memory"]


def test_a_limit_of_addresses_refuses_it() -> None:
    finding = of(LIMITED)
    title = f"Statements of {DB} fail for want of memory: 100 times, for a process may have no more than 700 MiB"
    assert said(finding.title) == f"{title} of addresses (ulimit -v)"
    assert finding.confidence == 0.95
    assert said(finding.remedy[0]).startswith("Raise or remove the limit")
    assert "0.62 GiB had the largest of its processes" in [said(item.figure) for item in finding.for_]
    assert not finding.against
    assert not finding.not_measured


def test_a_limit_that_nobody_is_near_to_refuses_what_asks_for_the_rest_at_once() -> None:
    finding = of(LIMITED | {(None, "limits.address_space_used_bytes"): 200.0 * MIB})
    assert "(ulimit -v)" in said(finding.title)
    assert finding.confidence == 0.9
    assert any("asked for the rest at once" in said(item.why) for item in finding.for_)


def test_a_host_that_may_promise_no_more() -> None:
    finding = of(PROMISED, "2")
    assert said(finding.title).endswith("100 times, for the host may promise no more than 7.8 GiB")
    assert "CommitLimit" in said(finding.remedy[0])


@pytest.mark.parametrize("figures", [NO_LIMIT, PROMISED])
def test_neither_is_said_to_speak_against_them(figures: dict[tuple[str | None, str], float]) -> None:
    finding = of(figures)
    assert said(finding.title).endswith("fail for want of memory: 100 times")
    assert [said(item.figure) for item in finding.against] == [
        "no limit of addresses or data, and vm.overcommit_memory = 0"
    ]


def test_limits_that_were_not_read_are_said() -> None:
    finding = of({}, None)
    assert [said(one.what) for one in finding.not_measured] == ["the limits of the server's processes"]
    assert not finding.against
