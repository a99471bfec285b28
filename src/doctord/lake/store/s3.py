"""An object store that speaks S3. Credentials and region come by boto3's usual chain, never by a word of ours.

Another store than Amazon's is named by AWS_ENDPOINT_URL. What is put is put by one request with `If-None-Match: *`, so
that sending twice does no harm; a store that does not know it, and overwrites, loses nothing by that.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from doctord.lake.store.store import S3, Stored, StoreError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_PATIENT: Final = Config(connect_timeout=10, read_timeout=60, retries={"mode": "standard"})
_THERE: Final = frozenset({"PreconditionFailed", "412"})
_ABSENT: Final = frozenset({"NoSuchKey", "404", "NotFound"})
_MOST_AT_ONCE: Final = 1000  # keys that one request deletes
_AHEAD_BYTES: Final = 1 << 18
_AWAY: Final = (EndpointConnectionError, ConnectTimeoutError, ReadTimeoutError, ConnectionClosedError)
_RIGHTS: Final = "ask for s3:PutObject, s3:GetObject and s3:ListBucket there; who compacts, for s3:DeleteObject too"
_HINTS: Final = {
    "AccessDenied": _RIGHTS,
    "403": _RIGHTS,
    "NoSuchBucket": "make the bucket first, or name another",
    "InvalidAccessKeyId": "the credentials are not those of this store: AWS_PROFILE, AWS_ENDPOINT_URL",
    "SignatureDoesNotMatch": "the credentials are not those of this store: AWS_PROFILE, AWS_ENDPOINT_URL",
}


class S3Store:
    """Objects of a bucket whose keys begin with a prefix."""

    def __init__(self, bucket: str, prefix: str) -> None:
        """Of this bucket and prefix; it is asked when something is wanted of it."""
        self.address = f"{S3}{bucket}/{prefix}".rstrip("/")
        self._bucket, self._prefix = bucket, f"{prefix}/" if prefix else ""
        with self._refused():
            self._client: S3Client = boto3.session.Session().client("s3", config=_PATIENT)

    def put_new(self, key: str, content: io.BufferedIOBase) -> bool:
        """See `Store`."""
        try:
            with self._refused():
                self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=content, IfNoneMatch="*")  # type: ignore[arg-type]
        except _CodeError as told:
            if told.code in _THERE:
                return False
            raise
        return True

    def size_bytes(self, key: str) -> int | None:
        """See `Store`."""
        try:
            with self._refused():
                return self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)["ContentLength"]
        except _CodeError as told:
            if told.code in _ABSENT:
                return None
            raise

    def listed(self, prefix: str) -> Iterator[Stored]:
        """See `Store`."""
        with self._refused():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + prefix
            )
            for page in pages:
                for one in page.get("Contents", ()):
                    yield Stored(one["Key"].removeprefix(self._prefix), one["Size"])

    def below(self, prefix: str) -> list[str]:
        """See `Store`."""
        whole = self._prefix + prefix
        with self._refused():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=whole, Delimiter="/"
            )
            return sorted(
                one["Prefix"].removeprefix(whole).rstrip("/")
                for page in pages
                for one in page.get("CommonPrefixes", ())
            )

    def opened(self, key: str) -> io.BufferedIOBase:
        """See `Store`."""
        size = self.size_bytes(key)
        if size is None:
            raise FileNotFoundError(f"{self.address}/{key}")
        return io.BufferedReader(_Ranges(self, key, size), _AHEAD_BYTES)

    def range_of(self, key: str, start: int, end: int) -> bytes:
        """The bytes of an object from `start` on, before `end`."""
        with self._refused():
            told = self._client.get_object(
                Bucket=self._bucket, Key=self._prefix + key, Range=f"bytes={start}-{end - 1}"
            )
            return told["Body"].read()

    def delete(self, keys: Iterable[str]) -> None:
        """See `Store`."""
        rest = iter(keys)
        while some := list(islice(rest, _MOST_AT_ONCE)):
            with self._refused():
                told = self._client.delete_objects(
                    Bucket=self._bucket,
                    Delete={"Objects": [{"Key": self._prefix + key} for key in some], "Quiet": True},
                )
            for one in told.get("Errors", ()):
                raise StoreError(
                    f"{self.address}: {one.get('Code')}: {one.get('Key')}", "ask for s3:DeleteObject there"
                )

    @contextmanager
    def _refused(self) -> Iterator[None]:
        try:
            yield
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise StoreError(
                f"{self.address}: no credentials were found",
                "AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of the machine",
            ) from error
        except _AWAY as error:
            raise StoreError(
                f"{self.address}: the store does not answer", "try again later; AWS_ENDPOINT_URL names it"
            ) from error
        except ClientError as error:
            told = error.response.get("Error", {})
            raise _CodeError(self.address, str(told.get("Code", "")), str(told.get("Message", ""))) from error
        except (BotoCoreError, ValueError) as error:
            raise StoreError(f"{self.address}: {error}", "see boto3's documentation on its configuration") from error


class _CodeError(StoreError):
    """The store refused, with a code of its own."""

    def __init__(self, address: str, code: str, message: str) -> None:
        super().__init__(f"{address}: {code}: {message}", _HINTS.get(code, "the store's own words"))
        self.code = code

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, str]]:
        return StoreError, (str(self), self.hint)


class _Ranges(io.RawIOBase):
    """An object that is read where somebody looks into it, and nowhere else."""

    def __init__(self, store: S3Store, key: str, size: int) -> None:
        super().__init__()
        self._store, self._key, self._size, self._at = store, key, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(begin + offset, 0)
        return self._at

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        found = self._store.range_of(self._key, self._at, end)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)
