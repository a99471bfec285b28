from datetime import UTC, datetime
from typing import Any

from doctord.analyse.study.changes import Change, changes_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import NOTED

AT = datetime(2026, 11, 20, tzinfo=UTC)


def settings(source: str | None = None, **values: str) -> Dataset:
    told = {"ts": AT, "source": source}
    rows: list[dict[str, Any]] = [told | {"name": name, "value": value} for name, value in values.items()]
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


def confounding(before: Dataset, after: Dataset, named: str = "") -> list[str]:
    return [one.name for one in changes_of(before, after).confounding(named)]


def test_two_changes_confound_each_other_unless_both_were_on_purpose() -> None:
    old, new = settings(jit="on", work_mem="4096"), settings(jit="off", work_mem="65536")
    assert confounding(old, new) == ["jit", "work_mem"]
    assert confounding(old, new, "work_mem") == ["jit"]
    assert confounding(old, new, "work_mem and jit") == []
    assert confounding(old, settings(jit="off", work_mem="4096")) == []


def test_a_change_that_is_not_recorded_is_confounded_by_one_that_is() -> None:
    assert confounding(settings(jit="on"), settings(jit="off"), "faster disks") == ["jit"]


def test_an_upgrade_is_one_change_with_what_it_computes() -> None:
    old = settings("default", server_version="15.4", server_version_num="150004", wal_buffers="512")
    new = settings("default", server_version="16.1", server_version_num="160001", wal_buffers="1024")
    assert confounding(old, new) == []
    assert confounding(old, new, "work_mem") == ["server_version_num"]


def test_what_somebody_lists_as_changed_was_on_purpose() -> None:
    old, new = settings(NOTED, groups="3", size="500M"), settings(NOTED, groups="4", size="8G")
    assert confounding(old, new) == []
    beside = [Dataset.joined([told, settings(jit=jit)]) for told, jit in ((old, "on"), (new, "off"))]
    assert confounding(*beside) == ["jit"]


def test_plans_follow_from_another_change_and_are_one_change_alone() -> None:
    def of(plans: tuple[str, str], jit: str) -> Dataset:
        rows = [{"ts": AT, "statement_id": name, "plan_id": plan} for name, plan in zip("ab", plans, strict=True)]
        return Dataset.joined([Dataset.from_rows(statement=rows), settings(jit=jit)])

    assert confounding(of(("1", "2"), "on"), of(("3", "4"), "on")) == []
    assert confounding(of(("1", "2"), "on"), of(("3", "4"), "off")) == []


def test_a_relation_is_named_by_its_end() -> None:
    def of(*names: str) -> Dataset:
        return Dataset.from_rows(space=[{"ts": AT, "kind": "index", "name": name} for name in names])

    assert confounding(of("shop.a"), of("shop.a", "shop.b", "shop.c"), "b, c") == []
    assert confounding(of("shop.a"), of("shop.a", "shop.b", "shop.c"), "b") == ["shop.c"]
