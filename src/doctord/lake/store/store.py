"""A store of objects: each has a key and is written once, whole or not at all.

`store_at` opens one by its address: a folder, also of a network file system, or `s3://BUCKET/PREFIX`.
"""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from doctord.errors import UserError
from doctord.regex import regex

S3: Final = "s3://"
_ADDRESS: Final = regex(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>[^?#]*))?")
_OTHER: Final = regex(r"[a-z][a-z0-9+.-]*://.*")


class StoreError(UserError):
    """A store cannot be reached, or refuses: the message says why, the hint what to do."""


class Stored(NamedTuple):
    """An object that is there."""

    key: str
    size_bytes: int


class Store(Protocol):
    """Objects by key; a key has parts with `/` between them. Methods raise a StoreError where the store refuses."""

    address: str

    def put_new(self, key: str, content: io.BufferedIOBase) -> bool:
        """Put an object there, unless one of this key is there; whether it was put."""
        ...

    def size_bytes(self, key: str) -> int | None:
        """How long an object is; null where there is none."""
        ...

    def listed(self, prefix: str) -> Iterator[Stored]:
        """The objects whose keys begin so, in order of their keys."""
        ...

    def below(self, prefix: str) -> list[str]:
        """The names that follow a prefix, up to the next `/`, in order: folders, as it were."""
        ...

    def opened(self, key: str) -> io.BufferedIOBase:
        """An object to be read, from anywhere in it; a FileNotFoundError where there is none."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; one that is not there is no error."""
        ...


def is_address(place: str) -> bool:
    """Whether it is the address of a store that is no folder.

    >>> is_address("s3://bucket/prefix"), is_address("/srv/fleet")
    (True, False)
    """
    return _OTHER.fullmatch(place) is not None


def address_of(path: Path) -> str | None:
    """The address that somebody gave where a path may stand too; null where it is a path.

    >>> address_of(Path("s3://bucket/prefix")), address_of(Path("/srv/fleet"))
    ('s3://bucket/prefix', None)
    """
    scheme, _, rest = str(path).partition(":/")
    address = f"{scheme}://{rest}"
    return address if rest and is_address(address) else None


def is_store(folder: Path) -> bool:
    """Whether a folder is what hosts ship to; false where that cannot be seen."""
    try:
        return (folder / "incoming").is_dir() or any(path.is_dir() for path in folder.glob("table=*"))
    except OSError:
        return False


def store_at(place: str) -> Store:
    """The store of an address; nothing is asked of it yet.

    Raises:
        StoreError: it is the address of no store that is known, or the library for it is not there.
    """
    if not is_address(place):
        from doctord.lake.store.folder import Folder  # noqa: PLC0415 - one of the two is needed

        return Folder(Path(place))
    match = _ADDRESS.fullmatch(place)
    if match is None:
        raise StoreError(
            "it is not the address of a store", "a folder, or s3://BUCKET/PREFIX; credentials stand elsewhere"
        )
    try:
        from doctord.lake.store.s3 import S3Store  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise StoreError(f"{S3} needs {error.name}", "pip install 'doctord[fleet]'") from error
    return S3Store(match["bucket"], (match["prefix"] or "").strip("/"))
