"""Control groups: limits and how they are used."""

import polars as pl
import pytest

from diagnose.hosts import host
from doctord.analyse.host.cgroups import cpu_groups, in_group, io_limits, memory_groups


def test_io_limits_with_the_part_of_the_time_at_the_limit() -> None:
    below = [{"component": "cgroup", "entity": "/postgres vda", "name": "io.reads_per_s", "value": 20.0}]
    group = {"io.read_limit_per_s": 60.0, "io.reads_per_s": 58.0, "io.write_limit_bytes_per_s": 1e6}
    (limit,) = io_limits(host(cgroup_io=group, extra={"statistic": below}), near=0.85)
    assert (limit.entity, limit.direction, limit.limit) == ("/postgres vda", "read", 60.0)
    assert limit.part == 0.5
    assert limit.rate == pytest.approx(39.0)


def test_figures_of_a_group_that_were_not_measured_are_null() -> None:
    dataset = host(cgroup={"memory.limit_bytes": 1e9, "cpu.nr_throttled_per_s": 2.0})
    (memory,) = memory_groups(dataset)
    (cpu,) = cpu_groups(dataset)
    assert (memory.path, memory.limit_bytes, memory.usage_bytes) == ("/postgres", 1e9, None)
    assert cpu.cut_short is None
    assert io_limits(dataset, near=0.85) == []


def test_share_of_periods_cut_short() -> None:
    (group,) = cpu_groups(host(cgroup={"cpu.nr_throttled_per_s": 2.0, "cpu.nr_periods_per_s": 8.0}))
    assert group.cut_short == 0.25


@pytest.mark.parametrize(
    ("path", "unit", "expected"),
    [
        ("/postgres", "/postgres", True),
        ("/postgres", "/postgres/batch", True),
        ("/postgres", "/postgres2", False),
        ("/postgres", None, False),
        ("/system.slice/postgresql@15-main.service", "postgresql@15-main.service", True),
        ("/system.slice/postgresql@15-main.service", "cron.service", False),
        (f"/docker/{'0a' * 32}", "container 0a0a0a0a0a0a", True),
        (f"/kubepods.slice/cri-containerd-{'0a' * 32}.scope", "container 0a0a0a0a0a0a", True),
        (f"/docker/{'0a' * 32}", "container 0b0a0a0a0a0a", False),
    ],
)
def test_who_is_in_a_group(path: str, unit: str | None, *, expected: bool) -> None:
    rows = pl.DataFrame({"unit": [unit]}, schema={"unit": pl.String})
    assert rows.select(in_group(path)).item() is expected
