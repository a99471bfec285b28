"""What the documents of lakes say becomes alerts, and each receiver is told as it wants it."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from doctord.app.alerts.settings import AlertSettings, Receiver
from doctord.app.alerts.state import GONE, SEEN, Condition
from doctord.serve.alerting import Alerting, conditions
from doctord.serve.verdicts import CLEAR, Known
from receiver import Heard, receiving

PAGE = "http://127.0.0.1:7878/"
LOCKS = {
    "cause": "row_locks", "severity": "critical", "explained_by": None, "database": "postgresql:5432",
    "title": "62 % of database time waits for row locks",
}  # fmt: skip
FULL = {
    "host": "db1", "threshold": "filesystem_used", "title": "space used", "unit": "%", "limit": 90.0, "newest": 97.0,
    "verdict": "violated", "mount": "/var", "device": None,
}  # fmt: skip


@pytest.fixture
def heard() -> Iterator[Heard]:
    with receiving() as heard:
        yield heard


def known(*findings: dict[str, Any], items: tuple[dict[str, Any], ...] = ()) -> dict[str, Known]:
    return {"shop": Known({"host": "db1", "findings": list(findings), "others": []}, {"items": items})}


def test_notes_and_what_another_finding_explains_are_no_alerts() -> None:
    note, symptom = LOCKS | {"severity": "note"}, LOCKS | {"cause": "commits_slow", "explained_by": "row_locks"}
    assert list(conditions(known(note, symptom))) == []
    assert list(conditions(known(LOCKS))) == [
        Condition("shop", "db1", "row_locks", "postgresql:5432", "critical", LOCKS["title"])
    ]


def test_a_violated_threshold_is_one_with_what_it_is_about() -> None:
    [told] = conditions(known(items=(FULL, FULL | {"verdict": "date", "mount": "/"})))
    assert (told.name, told.of, told.severity) == ("filesystem_used", "/var", "warning")
    assert told.what == "space used of /var: 97, threshold 90 %"


def test_other_hosts_of_a_lake_are_told_and_bad_minutes_of_the_same_are_not_twice() -> None:
    minutes, elsewhere = {"host": "db1", "findings": [LOCKS]}, {"host": "db2", "findings": [LOCKS]}
    of_two = {"shop": Known({"host": "db1", "findings": [], "others": [minutes, elsewhere]})}
    assert [one.host for one in conditions(of_two)] == ["db2"]


def test_of_a_lake_that_is_empty_or_not_judged_yet_nothing_is_told() -> None:
    assert list(conditions({"a": Known(), "b": Known(CLEAR)})) == []


def looked(settings: AlertSettings, *looks: dict[str, Known]) -> None:
    async def look() -> None:
        alerting = Alerting(settings, PAGE)
        for seen in looks:
            await alerting.look(seen)

    anyio.run(look)


def test_a_webhook_is_told_of_changes_and_alertmanager_each_time(heard: Heard) -> None:
    to = [Receiver(kind, heard.url, None, "warning") for kind in ("webhook", "alertmanager")]  # type: ignore[arg-type]
    looked(AlertSettings(tuple(to), ()), *[known(LOCKS)] * (SEEN + 2), *[known()] * GONE)
    of_webhook = [document for path, _, document in heard.told if path == "/"]
    assert [one["status"] for one in of_webhook] == ["firing", "resolved"]
    of_manager = [document for path, _, document in heard.told if path == "/api/v2/alerts"]
    assert ["endsAt" in one for documents in of_manager for one in documents] == [False] * (2 + GONE) + [True]


def test_what_did_not_arrive_is_told_at_the_next_look(heard: Heard) -> None:
    async def look() -> None:
        alerting = Alerting(AlertSettings((Receiver("webhook", heard.url, None, "warning"),), ()), PAGE)
        heard.status = 503
        for _ in range(SEEN):
            await alerting.look(known(LOCKS))
        heard.status = 200
        await alerting.look(known(LOCKS))
        await alerting.look(known(LOCKS))

    anyio.run(look)
    assert [document["status"] for _, _, document in heard.told] == ["firing", "firing"]


def test_the_links_are_to_the_page_that_the_settings_name(heard: Heard) -> None:
    to = (Receiver("webhook", heard.url, None, "warning"),)
    looked(AlertSettings(to, (), "https://doctord.example.org/"), *[known(LOCKS)] * SEEN)
    assert heard.told[0][2]["alerts"][0]["link"].startswith("https://doctord.example.org/?lake=shop&from=")
