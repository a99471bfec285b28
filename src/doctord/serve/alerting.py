"""Tells receivers what is wrong: findings of the last minutes that nothing else explains, and violated thresholds."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import anyio.to_thread

from doctord.app.alerts.send import send
from doctord.app.alerts.settings import SEVERITIES, AlertSettings, Receiver
from doctord.app.alerts.state import Alert, Alerts, Condition
from doctord.serve.verdicts import Known

log = logging.getLogger(__name__)

MOST_KEPT: Final = 1000  # alerts for a receiver that cannot be reached
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
        changed = self._alerts.look(moment, conditions(known))
        for receiver, waiting in self._undelivered.items():
            standing = self._alerts.firing(moment) if receiver.kind == "alertmanager" else []
            over = [*waiting, *changed]
            told = [*standing, *(one for one in over if not standing or one.status == "resolved")]
            arrived = await anyio.to_thread.run_sync(send, receiver, told, self._page)
            waiting[:] = [] if arrived else over[-MOST_KEPT:]


def conditions(known: Mapping[str, Known]) -> Iterator[Condition]:
    """What is wrong by the documents of lakes; what is a note, or follows from another finding, is no alert."""
    for lake, documents in known.items():
        for host in _hosts(documents.findings):
            for one in host["findings"]:
                if one["severity"] in SEVERITIES and one["explained_by"] is None:
                    yield Condition(lake, host["host"], one["cause"], one["database"], one["severity"], one["title"])
        for item in (documents.forecast or {"items": ()})["items"]:
            if item["verdict"] == "violated":
                yield _of_threshold(lake, item)


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
    return Condition(lake, item["host"], item["threshold"], of, "warning", what)
