"""What the documents of lakes say becomes alerts, and each receiver is told as it wants it."""

import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
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


def known(
    *findings: dict[str, Any], items: tuple[dict[str, Any], ...] = (), health: str = "not_healthy", age_s: float = 1.0
) -> dict[str, Known]:
    document = {"host": "db1", "health": health, "findings": list(findings), "others": []}
    return {"shop": Known(document, {"items": items}, newest=datetime.now(UTC) - timedelta(seconds=age_s))}


def told_of(lakes: dict[str, Known]) -> list[Condition]:
    return list(conditions(lakes, datetime.now(UTC)))


def test_notes_and_what_another_finding_explains_are_no_alerts() -> None:
    note, symptom = LOCKS | {"severity": "note"}, LOCKS | {"cause": "commits_slow", "explained_by": "row_locks"}
    assert told_of(known(note, symptom)) == []
    assert told_of(known(LOCKS)) == [
        Condition("shop", "db1", "row_locks", "postgresql:5432", "critical", LOCKS["title"])
    ]


def test_a_violated_threshold_is_one_with_what_it_is_about() -> None:
    [told] = told_of(known(items=(FULL, FULL | {"verdict": "date", "mount": "/"})))
    assert (told.name, told.of, told.severity) == ("filesystem_used", "/var", "warning")
    assert told.what == "space used of /var: 97, threshold 90 %"


def test_other_hosts_of_a_lake_are_told_and_bad_minutes_of_the_same_are_not_twice() -> None:
    minutes, elsewhere = {"host": "db1", "findings": [LOCKS]}, {"host": "db2", "findings": [LOCKS]}
    of_two = {"shop": Known({"host": "db1", "findings": [], "others": [minutes, elsewhere]})}
    assert [one.host for one in told_of(of_two)] == ["db2"]


def test_of_a_lake_that_is_empty_or_not_judged_yet_nothing_is_told() -> None:
    assert told_of({"a": Known(), "b": Known(CLEAR)}) == []


def test_that_nobody_records_any_more_is_one_and_findings_of_before_are_none() -> None:
    [told] = told_of(known(LOCKS, age_s=3600))
    assert (told.name, told.host, told.severity, told.kind) == ("nothing_recorded", "", "critical", "recording")
    assert told.what.startswith("nothing was recorded in shop after 20")


BLIND: dict[str, Callable[[], dict[str, Known]]] = {
    "nothing recorded": lambda: {"shop": Known(CLEAR)},
    "not judged": lambda: known(health="not_judged"),
    "abandoned": lambda: known(age_s=3600),
    "another host": lambda: {"shop": Known({"host": "db2", "health": "healthy", "findings": [], "others": []})},
}


@pytest.mark.parametrize("blind", BLIND)
def test_what_nobody_sees_any_more_is_not_over(heard: Heard, blind: str) -> None:
    to = (Receiver("webhook", heard.url, None, "warning"),)
    looked(AlertSettings(to, ()), *[known(LOCKS)] * SEEN, *[BLIND[blind]()] * (GONE + 2))
    told = [(document["name"], document["status"]) for _, _, document in heard.told]
    assert ("row_locks", "firing") in told
    assert ("row_locks", "resolved") not in told


def test_a_receiver_that_answers_nonsense_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nonsense:
        threading.Thread(target=_nonsense, args=(nonsense,), daemon=True).start()
        url = f"http://127.0.0.1:{nonsense.getsockname()[1]}/"
        looked(AlertSettings((Receiver("webhook", url, None, "warning"),), ()), *[known(LOCKS)] * SEEN)
    assert "webhook 127.0.0.1 cannot be told" in caplog.text


def _nonsense(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(b"no HTTP\r\n\r\n")


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
