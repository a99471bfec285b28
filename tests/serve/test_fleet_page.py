"""The page of a fleet beside that of lakes."""

import time
from pathlib import Path

from http_server import PATIENCE_S, Client, Reply, served
from incident_recordings import SECONDS, lake


def fleet_of(client: Client, until: int) -> Reply:
    """What `/fleet` says, once it has that status or tells why it has not."""
    ends_s = time.monotonic() + PATIENCE_S
    while True:
        reply = client.ask("/fleet", Host=client.address.partition("//")[2])
        is_told = reply.status == until and (until != 503 or b"being judged" not in reply.body)
        if is_told or time.monotonic() > ends_s:
            return reply
        time.sleep(0.2)


def test_it_comes_when_it_is_made_and_is_asked_for_anew(tmp_path: Path) -> None:
    own = lake(tmp_path / "fleet" / "db0", event="tuple", begin=0, end=SECONDS)
    with served("--lake", own, "--fleet", tmp_path / "fleet", "--fleet-every", "20m") as client:
        reply = fleet_of(client, 200)
        assert reply.status == 200
        assert "No verdict on any of 1 host" in reply.body.decode()  # nothing was recorded in the last hour
        assert reply.headers["refresh"] == "1200"
        assert "script-src" not in reply.headers["content-security-policy"]
        assert reply.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline'")
        assert (
            "script-src 'self'"
            in client.ask("/", Host=client.address.partition("//")[2]).headers["content-security-policy"]
        )


def test_why_there_is_none_is_told(tmp_path: Path) -> None:
    own = lake(tmp_path / "db0", event=None)
    with served("--lake", own, "--fleet", tmp_path / "none") as client:
        reply = fleet_of(client, 503)
        assert reply.status == 503
        assert "no such folder" in reply.document["hint"]
        assert reply.headers["retry-after"] == "10"
    with served("--lake", own) as client:
        assert client.ask("/fleet", Host=client.address.partition("//")[2]).status == 404
