"""Files in folders and archives."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read import archive
from doctord.read.archive import found


def names(path: Path) -> list[str]:
    with found([path]) as what:
        return [piece.name.removeprefix(f"{path.parent}/") for piece in what.pieces]


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


def tarred(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as packed:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), 1_700_000_000
            packed.addfile(member, io.BytesIO(content))
    return path


def test_a_folder_is_walked_but_what_is_hidden_is_not(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.txt", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    with found([tmp_path]) as what:
        assert [piece.name for piece in what.pieces] == [f"{tmp_path}/b.txt", f"{tmp_path}/a/c.txt"]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_members_of_a_tar_keep_their_names_and_times(tmp_path: Path, mode: str) -> None:
    tar = tarred(tmp_path / "week.bin", {"sa/sa15": b"fifteen", "sa/sa16": b"sixteen"}, mode)
    with found([tar]) as what:
        assert [(piece.name, piece.path.read_text()) for piece in what.pieces] == [
            (f"{tar}/sa/sa15", "fifteen"),
            (f"{tar}/sa/sa16", "sixteen"),
        ]
        assert what.pieces[0].path.stat().st_mtime == 1_700_000_000
        assert what.pieces[0].path.with_name("sa16") == what.pieces[1].path


def test_one_inside_another(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner", **{"awr.html": b"<html>"}).read_bytes()
    outer = tarred(tmp_path / "outer", {"monday.zip": inner, "note": b"n"})
    assert names(outer) == ["outer/monday.zip/awr.html", "outer/note"]


def test_too_many_inside_one_another(tmp_path: Path) -> None:
    content = b"x"
    for _ in range(archive.DEEPEST + 1):
        content = zipped(tmp_path / "next", inner=content).read_bytes()
    with found([tmp_path / "next"]) as what:
        assert what.pieces == []
        assert "archives one inside another" in what.unread[0].reason


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    hostile = {"../../etc/passwd": b"a", "/etc/shadow": b"b", "..": b"c", "a\\..\\..\\b": b"d"}
    with found([zipped(tmp_path / "z", **hostile)]) as what:
        scratch = {piece.path.parents[len(piece.path.parents) - 4] for piece in what.pieces}
        assert len(what.pieces) == 4
        assert len(scratch) == 1
        assert all(".." not in piece.path.parts for piece in what.pieces)


def test_links_and_devices_are_left(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "t", "w") as packed:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        packed.addfile(device)
    assert names(tmp_path / "t") == []


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(archive, "BOMB_RATIO", 100)
    with found([zipped(tmp_path / "z", bomb=bytes(8 << 20), good=b"good")]) as what:
        assert [piece.name for piece in what.pieces] == [f"{tmp_path}/z/good"]
        assert [(unread.name, unread.reason) for unread in what.unread] == [
            (f"{tmp_path}/z/bomb", "unpacks to more than can be believed, or kept")
        ]


def test_more_files_than_anybody_sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    with found([zipped(tmp_path / "z", a=b"a", b=b"b", c=b"c", d=b"d")]) as what:
        assert len(what.pieces) == 2
        assert len(what.unread) == 1


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_damaged_archive_gives_what_it_holds(tmp_path: Path, kind: str, tenths: int) -> None:
    members = {f"{number}": bytes(range(256)) * 40 for number in range(5)}
    whole = zipped(tmp_path / "z", **members) if kind == "zip" else tarred(tmp_path / "z", members, "w:gz")
    content = whole.read_bytes()
    whole.write_bytes(content[: len(content) * tenths // 10])
    with found([whole]) as what:
        assert what.unread or what.pieces


def test_a_secret_archive_says_so(tmp_path: Path) -> None:
    path = zipped(tmp_path / "z", a=b"a")
    content = bytearray(path.read_bytes())
    content[6] |= 1  # the flag of encryption, in the member's header and in the directory
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    with found([path]) as what:
        assert "encrypted" in what.unread[0].reason


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"), found([tmp_path / "nowhere"]):
        pass
