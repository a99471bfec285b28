"""A real `doctord serve` on a port that is free, and a client that says what came back."""

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

RECORDINGS = Path(__file__).parents[2] / "lab/recordings"
PATIENCE_S = 120
LAKES = ("row_lock_convoy", "idle_in_transaction")


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks one server."""

    def __init__(self, address: str) -> None:
        self.address = address.partition("?")[0].rstrip("/")
        self.token = address.partition("?token=")[2]

    def ask(self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Reply:
        """One request, with nothing but these headers and `Host`, which may be among them."""
        place = urlsplit(self.address)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE_S)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            sized = {"Content-Length": str(len(body))} if body is not None else {}
            connection.putrequest(method, path, skip_host="Host" in named)
            for name, value in (sized | named).items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(
        self, resource: str, lake: str | None = LAKES[0], headers: Mapping[str, str] | None = None, **given: Any
    ) -> Reply:
        """A resource of the API; `from_` is `from`."""
        named = {name.rstrip("_"): value for name, value in given.items()} | ({"lake": lake} if lake else {})
        return self.ask(f"/api/v1/{resource}?{urlencode(named, doseq=True)}", **(headers or {}))


@contextmanager
def served(*words: str | Path) -> Iterator[Client]:
    """A server of its own; it is ended by its process id."""
    command = [sys.executable, "-m", "doctord", "serve", "--port", "0", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield Client(process.stdout.readline().rpartition(" ")[2].strip())
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def unpacked(recording: str, place: Path) -> Path:
    """The lake of a recording."""
    with tarfile.open(RECORDINGS / f"{recording}.tar") as file:
        file.extractall(place, filter="data")
    return place
