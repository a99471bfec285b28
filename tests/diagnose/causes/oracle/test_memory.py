"""Memory of Oracle: buffer cache, work areas, shared pool."""

import pytest

from diagnose.oracle_hosts import DB, found
from doctord.report.phrases import said

MANY_READS = {"db file sequential read": (2000.0, 1.0)}
TEMPORARY = {"direct path read temp": (100.0, 5.0)}
OVER = "v$pga_target_advice.estd_overalloc_count"


def _advice(saved: float) -> dict[tuple[str, str], float]:
    view = "v$db_cache_advice"
    return {
        (f"{view}.size_factor", "D 1000"): 1.0,
        (f"{view}.size_factor", "D 2000"): 2.0,
        (f"{view}.size_factor", "D 4000"): 4.0,
        (f"{view}.estd_physical_reads", "D 1000"): 1e6,
        (f"{view}.estd_physical_reads", "D 2000"): 1e6 * (1 - saved),
        (f"{view}.estd_physical_reads", "D 4000"): 0.0,
    }


@pytest.mark.parametrize(("saved", "small"), [(0.19, False), (0.21, True), (0.9, True)])
def test_a_small_buffer_cache_by_its_advice(saved: float, *, small: bool) -> None:
    findings = found(waits=MANY_READS, figures=_advice(saved))
    assert ("buffer_pool_small" in findings) is small


def test_the_advice_is_heard_only_where_reads_cost_time() -> None:
    assert found(waits={"db file sequential read": (10.0, 0.5)}, figures=_advice(0.9)) == {}


@pytest.mark.parametrize(("multipass", "against"), [(0.1, False), (0.0, True), (None, False)])
def test_work_areas_that_spill(multipass: float | None, *, against: bool) -> None:
    finding = found(waits=TEMPORARY, figures={("v$sql_workarea_histogram.multipass", "64M - 128M"): multipass})
    assert bool(finding["sort_spill"].against) is against
    assert "sort_spill" not in found(waits={"direct path read temp": (5.0, 5.0)})


def test_pools_are_not_compared_with_one_another() -> None:
    view = "v$db_cache_advice"
    kept = {(f"{view}.size_factor", "K 9,000"): 1.5, (f"{view}.estd_physical_reads", "K 9,000"): 0.0}
    assert "buffer_pool_small" not in found(waits=MANY_READS, figures=_advice(0.1) | kept)


@pytest.mark.parametrize(("count", "over"), [(0.0, False), (12.0, True)])
def test_a_pga_target_that_is_exceeded(count: float, *, over: bool) -> None:
    factor = "v$pga_target_advice.size_factor"
    advice = {(OVER, "256"): 99.0, (OVER, "512"): count, (OVER, "1,024"): 0.0}
    sizes = {(factor, "256"): 0.5, (factor, "512"): 1.0, (factor, "1,024"): 2.0}
    findings = found(figures=advice | sizes)
    assert ("pga_over_allocated" in findings) is over
    if over:
        assert any("none with 1,024 MB" in said(item.why) for item in findings["pga_over_allocated"].for_)


def test_the_advice_without_the_present_size_says_nothing() -> None:
    assert found(figures={(OVER, "256"): 99.0}) == {}


@pytest.mark.parametrize(("hard", "against"), [(5.0, False), (500.0, True)])
def test_a_small_shared_pool(hard: float, *, against: bool) -> None:
    finding = found(
        waits={"latch: shared pool": (300.0, 1.0)},
        figures={("v$librarycache.reloads", "SQL AREA"): 20.0, "v$sysstat.parse count (hard)": hard},
    )["shared_pool_small"]
    assert bool(finding.against) is against


POOL_WAITS = {"latch: shared pool": (300.0, 1.0)}
LITERALS = {"v$sysstat.parse count (hard)": 400.0, "v$sys_time_model.hard parse elapsed time": 1.0}
OUT_OF_MEMORY = {"event": [{"kind": "error", "subject": "ORA-04031", "db": DB, "text": "unable to allocate"}]}


def _pool(free_bytes: float) -> dict[tuple[str, str], float]:
    return {
        ("v$sgastat.size", "shared/free memory"): free_bytes,
        ("v$sgastat.size", "shared/SQLA"): 1e9,
        ("v$memory_dynamic_components.current_size", "shared pool"): 3e9,
    }


def test_a_pool_with_room_is_not_small_and_explains_nothing() -> None:
    findings = found(waits=POOL_WAITS, figures=_pool(1e9) | LITERALS)
    assert "shared_pool_small" not in findings
    assert findings["shared_pool_busy"].explained_by == "hard_parsing"
    assert findings["hard_parsing"].explained_by is None
    assert any("33 % of the shared pool free" in said(item.figure) for item in findings["shared_pool_busy"].for_)


@pytest.mark.parametrize(
    ("free_bytes", "cause"), [(299e6, "shared_pool_small"), (301e6, "shared_pool_busy"), (None, "shared_pool_small")]
)
def test_free_memory_decides(free_bytes: float | None, cause: str) -> None:
    figures = {} if free_bytes is None else _pool(free_bytes)
    assert {"shared_pool_small", "shared_pool_busy"} & found(waits=POOL_WAITS, figures=figures).keys() == {cause}


def test_memory_used_in_percent_tells_the_same() -> None:
    assert "shared_pool_busy" in found(waits=POOL_WAITS, figures={"shared_pool.Memory Usage %": 66.0})
    assert "shared_pool_small" in found(waits=POOL_WAITS, figures={"shared_pool.Memory Usage %": 97.0})


def test_an_allocation_that_failed_decides_whatever_is_free() -> None:
    findings = found(figures=_pool(1e9), extra=OUT_OF_MEMORY)
    assert "shared_pool_busy" not in findings
    assert said(findings["shared_pool_small"].for_[0].figure) == "ORA-04031 in the alert log: 1"
    assert findings["shared_pool_small"].impact.share is None
    assert any("there was room" in said(item.why) for item in findings["shared_pool_small"].against)


def test_literals_fill_the_pool_and_not_the_pool_the_parses() -> None:
    findings = found(waits=POOL_WAITS, figures=_pool(1e8) | LITERALS)
    assert findings["shared_pool_small"].explained_by == "hard_parsing"
    assert findings["hard_parsing"].explained_by is None
