import pytest

from doctord.analyse.study.compare import Row
from doctord.analyse.study.difference import difference
from doctord.analyse.study.measure import Key
from doctord.analyse.study.samples import Samples
from doctord.analyse.study.targets import Target, judged_target, targets_in
from doctord.analyse.study.time_rows import DATABASE_TIME
from doctord.analyse.study.verdict import Comparison
from doctord.dataset.dataset import Dataset


def row(key: Key, unit: str, before: float, after: float) -> Row:
    return Row(key, unit, "low", difference(Samples.of(before, 1.0), Samples.of(after, 1.0)))


FOUND = Comparison(
    "before", "after", "better", "", [], unit="commit",
    time=[row(DATABASE_TIME, "s", 0.028, 0.0021), row(Key("time", "log file sync"), "s", 0.026, 0.002)],
    rows=[row(Key("wait", "log file sync"), "ms", 26.45, 2.13), row(Key("figure", "lun reads"), "s", 0.008, 0.016),
          row(Key("figure", "switches"), "pct", 30.0, 0.1)],
)  # fmt: skip


@pytest.mark.parametrize(
    ("target", "is_met"),
    [
        (Target("log file sync", "<", 5.0, "ms"), True),
        (Target("log_file_sync_ms", "<", 2.0, "ms"), False),
        (Target("commit_ms", "<", 2.2, "ms"), True),
        (Target("lun reads", "<=", 10.0, "ms"), False),
        (Target("switches", "<=", 0.0), True),
        (Target("no such thing", "<", 1.0), None),
    ],
)
def test_a_target_is_met_missed_or_not_measured(target: Target, is_met: bool | None) -> None:  # noqa: FBT001 - a parameter
    assert judged_target(target, FOUND).is_met is is_met


def test_targets_stand_in_the_tables_of_their_keeper() -> None:
    rows = [
        {"component": "target", "name": "wait.avg_wait_ms", "entity": "log file sync", "value": 5.0, "unit": "ms"},
        {"component": "target", "name": "lun reads", "value": 0.01, "unit": "s"},
    ]
    assert [one.text for one in targets_in(Dataset.from_rows(statistic=rows))] == [
        "log file sync <= 5 ms", "lun reads <= 0.01 s",
    ]  # fmt: skip
