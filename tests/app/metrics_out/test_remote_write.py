"""Samples as remote write takes them."""

import json
import math
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from doctord.app.metrics_out.remote_write import compressed, write_request
from doctord.app.metrics_out.samples import Moment, Sample
from doctord.app.metrics_out.sending import Sending
from doctord.app.metrics_out.settings import Destination
from doctord.app.receivers import Address
from exporters import PROMETHEUS, missing, receiving_prometheus

ACTIVE = Sample("doctord_active_sessions", {"wait_class": "User I/O", "lake": "shop", "none": ""}, 2.5)


@pytest.mark.parametrize("size", [0, 1, 59, 60, 65_536, 65_537, 200_000])
def test_a_block_of_snappy_holds_the_message(size: int) -> None:
    message = bytes(number % 251 for number in range(size))
    assert pa.Codec("snappy").decompress(compressed(message), size).to_pybytes() == message


def test_a_request_is_protobuf_with_sorted_labels() -> None:
    at = datetime(2026, 11, 27, tzinfo=UTC)
    block = write_request(Moment(at, (ACTIVE,)))
    assert block[0] < 128, "its length is one byte"
    message = pa.Codec("snappy").decompress(block, block[0]).to_pybytes()
    names = [b"__name__", b"lake", b"wait_class"]
    assert sorted(message.index(name) for name in names) == [message.index(name) for name in names]
    assert b"none" not in message
    assert message.index(b"doctord_active_sessions") < message.index(b"shop") < message.index(b"User I/O")


@pytest.mark.server
@pytest.mark.skipif(missing(PROMETHEUS) is not None, reason=str(missing(PROMETHEUS)))
def test_a_prometheus_has_what_it_was_sent(open_folder: Path) -> None:
    infinite = Sample("doctord_odd", {"lake": 'a "b" ü'}, math.inf)
    with receiving_prometheus(open_folder / "prometheus") as address:
        sending = Sending(Destination("remote_write", Address(f"{address}/api/v1/write", None)))
        at = datetime.now(UTC)
        sending.add(Moment(at, (ACTIVE, infinite)))
        sending.send()
        found = {name: _asked(address, name, at) for name in ("doctord_active_sessions", "doctord_odd")}
    assert found["doctord_active_sessions"] == [
        ({"__name__": "doctord_active_sessions", "lake": "shop", "wait_class": "User I/O"}, "2.5")
    ]
    assert found["doctord_odd"] == [({"__name__": "doctord_odd", "lake": 'a "b" ü'}, "+Inf")]


def _asked(address: str, query: str, at: datetime) -> list[tuple[dict[str, str], str]]:
    where = f"{address}/api/v1/query?{urllib.parse.urlencode({'query': query, 'time': at.timestamp()})}"
    with urllib.request.urlopen(where, timeout=30) as answer:  # noqa: S310 - ours
        told = json.load(answer)["data"]["result"]
    return [(one["metric"], one["value"][1]) for one in told]
