"""Tells receivers what is wrong: findings that nothing else explains, violated thresholds, and that nobody records."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import anyio.to_thread

from doctord.app.alerts.send import send
from doctord.app.alerts.settings import SEVERITIES, AlertSettings, Receiver
from doctord.app.alerts.state import Alert, Alerts, Condition
from doctord.serve.lakes import ABANDONED
from doctord.serve.verdicts import Known

MOST_KEPT: Final = 1000  # alerts for a receiver that cannot be reached
NOT_RECORDED: Final = "nothing_recorded"
LABELS: Final = ("database", "device", "mount", "interface", "tablespace", "entity")


class Alerting:
    """Alerts of the lakes, on their way to those who are to be told."""

    def __init__(self, settings: AlertSettings, page: str) -> None:
        """Nobody was told of anything yet; `page` is the address of our own page, for links."""
        self._settings, self._page = settings, settings.page or page
        self._alerts = Alerts(settings.silences)
        self._undelivered: dict[Receiver, list[Alert]] = {receiver: [] for receiver in settings.to}

    async def look(self, known: Mapping[str, Known]) -> None:
        """Look at what was last worked out, and tell of what changed; Alertmanager of all that fires, each time."""
        moment = datetime.now(UTC)
        changed = self._alerts.look(moment, conditions(known, moment), lambda one: is_judged(known, moment, one))
        for receiver, waiting in self._undelivered.items():
            standing = self._alerts.firing(moment) if receiver.kind == "alertmanager" else []
            over = [*waiting, *changed]
            told = [*standing, *(one for one in over if not standing or one.status == "resolved")]
            arrived = await anyio.to_thread.run_sync(send, receiver, told, self._page)
            waiting[:] = [] if arrived else over[-MOST_KEPT:]


def conditions(known: Mapping[str, Known], moment: datetime) -> Iterator[Condition]:
    """What is wrong by the documents of lakes; what is a note, or follows from another finding, is no alert.

    Of a lake that nobody has filled for a while this is what is wrong: its findings are of another time.
    """
    for lake, documents in known.items():
        if _is_abandoned(documents, moment):
            what = f"nothing was recorded in {lake} after {documents.newest:%F %T} UTC"
            yield Condition(lake, "", NOT_RECORDED, None, "critical", what, "recording")
        for host in () if _is_abandoned(documents, moment) else _hosts(documents.findings):
            for one in host["findings"]:
                if one["severity"] in SEVERITIES and one["explained_by"] is None:
                    yield Condition(lake, host["host"], one["cause"], one["database"], one["severity"], one["title"])
        for item in (documents.forecast or {"items": ()})["items"]:
            if item["verdict"] == "violated":
                yield _of_threshold(lake, item)


def is_judged(known: Mapping[str, Known], moment: datetime, condition: Condition) -> bool:
    """Whether these documents would tell a condition, were it still there: a host that is not looked at is not well."""
    documents = known[condition.lake]
    if condition.kind == "recording":
        return documents.newest is not None
    if condition.kind == "threshold":
        return documents.forecast is not None
    judged = {host["host"] for host in _hosts(documents.findings) if host["health"] != "not_judged"}
    return condition.host in judged and not _is_abandoned(documents, moment)


def _is_abandoned(documents: Known, moment: datetime) -> bool:
    return documents.newest is not None and documents.newest < moment - ABANDONED


def _hosts(findings: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    """The documents of the hosts of a lake; bad minutes of the same host are part of its own."""
    if not findings or "host" not in findings:
        return ()
    others = {other["host"]: other for other in findings["others"] if other["host"] != findings["host"]}
    return findings, *others.values()


def _of_threshold(lake: str, item: Mapping[str, Any]) -> Condition:
    of = next((str(item[label]) for label in LABELS if item.get(label) is not None), None)
    limit = f"{item['limit']:g} {item['unit']}".strip()
    what = f"{item['title']}{f' of {of}' if of else ''}: {item['newest']:g}, threshold {limit}"
    return Condition(lake, item["host"], item["threshold"], of, "warning", what, "threshold")
