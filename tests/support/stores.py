"""Stores for tests: a folder, and S3 as moto speaks it; and one that fails and lies."""

import io
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import boto3
import pytest
from moto.server import ThreadedMotoServer

from doctord.lake.store.store import Store, Stored, StoreError

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "not-to-be-shown",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@contextmanager
def s3() -> Iterator[str]:
    """A server of S3 with a bucket `fleet`, whose address boto3 finds in the environment."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
            patch.setenv(name, value)
        client = boto3.session.Session().client("s3")
        client.create_bucket(Bucket="fleet")
        client.close()
        try:
            yield "s3://fleet"
        finally:
            server.stop()


class Unreliable:
    """A store that refuses a share of what it is asked, sometimes after it did it, and sometimes says that it did."""

    def __init__(self, store: Store, share: float, seed: int, lies: float = 0.0) -> None:
        self._store, self._share, self._lies, self._chance = store, share, lies, random.Random(seed)  # noqa: S311
        self.address = store.address

    @contextmanager
    def _maybe(self) -> Iterator[None]:
        if self._chance.random() < self._share / 2:
            raise StoreError(f"{self.address}: SlowDown: reduce your request rate", "try again later")
        yield
        if self._chance.random() < self._share / 2:
            raise StoreError(f"{self.address}: the store does not answer", "try again later")

    def put_new(self, key: str, content: io.BufferedIOBase) -> bool:
        with self._maybe():
            return True if self._chance.random() < self._lies else self._store.put_new(key, content)

    def size_bytes(self, key: str) -> int | None:
        with self._maybe():
            return self._store.size_bytes(key)

    def listed(self, prefix: str) -> Iterator[Stored]:
        with self._maybe():
            found = list(self._store.listed(prefix))
        yield from found

    def below(self, prefix: str) -> list[str]:
        with self._maybe():
            return self._store.below(prefix)

    def opened(self, key: str) -> io.BufferedIOBase:
        with self._maybe():
            pass
        return self._store.opened(key)

    def delete(self, keys: Iterable[str]) -> None:
        with self._maybe():
            self._store.delete(keys)
