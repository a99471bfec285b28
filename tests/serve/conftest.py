"""One server of recordings of the lab for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from http_server import LAKES, Client, served, unpacked


@pytest.fixture(scope="package")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("serve")
    return [unpacked(name, folder / name) for name in LAKES]


@pytest.fixture(scope="package")
def client(lakes: list[Path]) -> Iterator[Client]:
    with served(*(word for lake in lakes for word in ("--lake", lake))) as client:
        yield client
