"""Who blocked whom, as one JSON document: docs/reference/http-api.md explains its keys."""

from collections.abc import Sequence
from typing import Any, Final

from doctord.analyse.over_time.blocking import Blocked
from doctord.app.over_time.blocking import BlockingFound
from doctord.report.over_time.buckets import rounded, times, values_of

MOST_ROOTS: Final = 20
MOST_BELOW: Final = 30
MOST_NODES: Final = 300


def document(found: BlockingFound) -> dict[str, Any]:
    """The trees, the one that cost most first; `left_out` counts trees and sessions that are not in it."""
    room = [MOST_NODES]
    trees = [_node(one, room) for one in found.trees[:MOST_ROOTS]]
    return {**times(found.buckets), "trees": trees, "left_out": len(found.trees) - len(trees)}


def _node(one: Blocked, room: list[int]) -> dict[str, Any]:
    room[0] -= 1
    below = _below(one.below, room)
    return {
        "server": one.db,
        "session": one.sid,
        **one.about,
        "waited_s": rounded(one.waited_s),
        "behind_s": rounded(one.behind_s),
        "values": values_of(one.values) if one.below else None,
        "below": below,
        "left_out": len(one.below) - len(below),
    }


def _below(nodes: Sequence[Blocked], room: list[int]) -> list[dict[str, Any]]:
    """Those that waited, as long as there is room."""
    return [_node(one, room) for one in nodes[:MOST_BELOW] if room[0] > 0]
