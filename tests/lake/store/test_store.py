"""What each store does alike."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctord.lake.store.store import Store, Stored, StoreError, store_at
from stores import s3


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with s3() as place:
        yield place


@pytest.fixture(params=["folder", "s3", "s3 below a prefix"])
def store(request: pytest.FixtureRequest, address: str, tmp_path: Path) -> Store:
    if request.param == "folder":
        return store_at(str(tmp_path / "store"))
    place = f"{address}/{request.param.replace(' ', '-')}/{tmp_path.name}" if "prefix" in request.param else address
    found = store_at(place)
    found.delete([one.key for one in found.listed("")])
    return found


def put(store: Store, key: str, text: str = "x") -> bool:
    return store.put_new(key, io.BytesIO(text.encode()))


def test_an_object_is_put_once(store: Store) -> None:
    assert put(store, "incoming/a/1.zip", "first")
    assert not put(store, "incoming/a/1.zip", "second")
    assert store.size_bytes("incoming/a/1.zip") == 5
    with store.opened("incoming/a/1.zip") as file:
        assert file.read() == b"first"


def test_what_is_not_there(store: Store) -> None:
    assert store.size_bytes("none/at/all") is None
    assert list(store.listed("none/")) == []
    assert store.below("none/") == []
    with pytest.raises(FileNotFoundError):
        store.opened("none/at/all")
    store.delete(["none/at/all"])


def test_objects_are_listed_in_order_of_their_keys(store: Store) -> None:
    for key in ("in/b/2", "in/a/1", "in/a/10", "other/c", "index"):
        put(store, key, key)
    assert list(store.listed("in/")) == [Stored("in/a/1", 6), Stored("in/a/10", 7), Stored("in/b/2", 6)]
    assert [one.key for one in store.listed("in")] == ["in/a/1", "in/a/10", "in/b/2", "index"]
    assert store.below("in/") == ["a", "b"]
    assert store.below("") == ["in", "other"]
    store.delete(["in/a/1", "in/b/2"])
    assert [one.key for one in store.listed("in/")] == ["in/a/10"]


def test_a_part_of_an_object_is_read_from_anywhere_in_it(store: Store) -> None:
    content = bytes(range(256)) * 4096
    store.put_new("large", io.BytesIO(content))
    with store.opened("large") as file:
        file.seek(-256, io.SEEK_END)
        assert file.read() == bytes(range(256))
        file.seek(1000)
        assert file.read(24) == content[1000:1024]
        assert file.tell() == 1024
        assert file.read() == content[1024:]
        assert file.read(1) == b""


def test_keys_do_not_leave_a_folder(tmp_path: Path) -> None:
    for key in ("../up", "a//b", "/etc/passwd", ""):
        with pytest.raises(StoreError, match="is no key"):
            put(store_at(str(tmp_path)), key)


def test_what_was_cut_off_in_a_folder_is_not_there(tmp_path: Path) -> None:
    class Torn(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(5, "Input/output error")
            return super().read(min(size or 3, 3))

    store = store_at(str(tmp_path))
    with pytest.raises(StoreError):
        store.put_new("a/b", Torn(b"whole object"))
    assert (store.size_bytes("a/b"), list(store.listed("")), list((tmp_path / "a").iterdir())) == (None, [], [])


@pytest.mark.parametrize("place", ["s3://", "s3://UPPER/x", "gs://bucket", "s3://key:secret@bucket/x", "http://host/b"])
def test_what_is_no_address_is_refused_without_repeating_it(place: str) -> None:
    with pytest.raises(StoreError) as refused:
        store_at(place)
    assert place not in str(refused.value)
    assert "secret" not in f"{refused.value}{refused.value.hint}"


def test_a_bucket_that_is_not_there_and_a_store_that_is_away(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert address
    with pytest.raises(StoreError, match="NoSuchBucket") as refused:
        list(store_at("s3://nowhere").listed(""))
    assert "make the bucket" in refused.value.hint
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(StoreError, match="does not answer") as refused:
        put(store_at("s3://fleet"), "a")
    assert "not-to-be-shown" not in str(refused.value)


def test_without_credentials(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert address
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(StoreError, match="no credentials were found"):
        put(store_at("s3://fleet"), "a")
