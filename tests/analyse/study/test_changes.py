from datetime import UTC, datetime
from typing import Any

from doctord.analyse.study.changes import Change, changes_of
from doctord.dataset.dataset import Dataset

AT = datetime(2026, 11, 20, tzinfo=UTC)


def settings(**values: str) -> Dataset:
    rows: list[dict[str, Any]] = [{"ts": AT, "name": name, "value": value} for name, value in values.items()]
    return Dataset.from_rows(setting=rows)


def test_settings_that_differ_are_named_and_places_are_none() -> None:
    found = changes_of(
        settings(work_mem="4096", port="5432", jit="on"), settings(work_mem="65536", port="6432", jit="on")
    )
    assert found.found == [Change("setting", "work_mem", "4096", "65536")]
    assert found.not_recorded == ["plan", "relation"]
    assert found.beside("work_mem to 64 MB") == []


def test_a_setting_that_one_period_does_not_tell_is_no_change() -> None:
    assert changes_of(settings(jit="on"), settings(jit="on", work_mem="1")).found == []


def test_relations_that_came_and_went_and_plans_that_changed() -> None:
    def of(plan: str, *relations: str) -> Dataset:
        space = [{"ts": AT, "kind": "index", "name": name} for name in relations]
        return Dataset.from_rows(space=space, statement=[{"ts": AT, "statement_id": "7", "plan_id": plan}])

    found = changes_of(of("1", "a", "b"), of("2", "b", "c")).found
    assert found == [
        Change("plan", "7", "1", "2"), Change("relation", "a", "index", None), Change("relation", "c", None, "index"),
    ]  # fmt: skip
