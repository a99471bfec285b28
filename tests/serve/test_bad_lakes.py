"""A lake that is empty, damaged, or deleted while it is served: refusals and what is left, never an error of ours."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctord.serve.api import ENDPOINTS
from http_server import LAKES, Client, served, unpacked

WINDOW = {"from_": "2026-11-23T07:07:11Z", "to": "2026-11-23T07:07:27Z"}
NEEDED = {"/series": {"figure": "cpu_used_pct"}, "/changes": {"before": "2026-11-23T07:07:11Z..2026-11-23T07:07:18Z"}}


def statuses(client: Client) -> dict[str, int]:
    """What each resource answers, asked for a time of the recording."""
    return {
        one.path: client.get(
            one.path.lstrip("/").replace("{id}", "1"), lake=None, **(NEEDED.get(one.path, {}) | asked(one.path))
        ).status
        for one in ENDPOINTS
    }


def asked(path: str) -> dict[str, str]:
    return {} if path in {"/servers", "/forecast"} else WINDOW


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return unpacked(LAKES[0], tmp_path / "lake")


@pytest.fixture
def client(lake: Path) -> Iterator[Client]:
    with served("--lake", lake) as client:
        yield client


def test_an_empty_lake_has_nothing_to_tell(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    with served("--lake", tmp_path) as client:
        assert set(statuses(client).values()) <= {200, 422}
        held = client.get("servers", lake=None).document["lakes"][0]
        assert (held["since"], held["hosts"]) == (None, [])
        assert client.get("load", lake=None).document["bands"] == []
        assert client.ask("/metrics").status == 200


def test_a_lake_that_is_deleted_is_a_refusal(lake: Path, client: Client) -> None:
    assert client.get("load", lake=None, **WINDOW).document["bands"]
    shutil.rmtree(lake)
    told = statuses(client)
    assert set(told.values()) <= {200, 422}
    assert told["/findings"] == 422
    assert client.ask("/metrics").status == 200
    assert client.ask("/").status == 200


def test_damaged_files_are_left_out(lake: Path, client: Client) -> None:
    for path in lake.glob("sealed/*/*/*.parquet"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255
        path.write_bytes(content)
    assert set(statuses(client).values()) <= {200, 422}
    assert client.ask("/metrics").status == 200


def test_files_that_are_none_are_left_out(lake: Path, client: Client) -> None:
    for path in lake.glob("sealed/*/*/*.parquet"):
        path.write_bytes(b"PAR1 nothing of the kind PAR1")
    (lake / "open").mkdir(exist_ok=True)
    (lake / "open/20261123T080000Z-1f2e3d4c.segment").write_bytes(b"nothing")
    assert set(statuses(client).values()) <= {200, 422}
    assert client.get("servers", lake=None).document["lakes"][0]["problems"]
