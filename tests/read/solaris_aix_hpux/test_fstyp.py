"""fstyp -v: block sizes and layouts of UFS and VxFS."""

from pathlib import Path

from doctord.read.formats import read_file
from doctord.read.solaris_aix_hpux.fstyp import NAME
from reading import SAMPLES, picked, read_sample


def test_ufs() -> None:
    reading = read_sample("fstyp.ufs.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert dict(picked(reading, "setting", "name", "value", component="ufs")) == {
        "size": "52428800", "blocks": "51634105", "bsize": "8192", "fsize": "1024", "frag": "8", "minfree": "1%",
        "optim": "time", "maxcontig": "128",
    }  # fmt: skip


def test_vxfs() -> None:
    settings = dict(picked(read_sample("fstyp.vxfs.txt"), "setting", "name", "value", component="vxfs"))
    assert (settings["version"], settings["bsize"], settings["free"]) == ("6", "1024", "12345678")


def test_two_file_systems_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(
        "".join((SAMPLES / f"fstyp.{name}.txt").read_text() for name in ("vxfs", "ufs")) + "no file system\n"
    )
    settings = dict(picked(read_file(tmp_path / "file"), "setting", "name", "value"))
    assert (settings["bsize"], settings["2.bsize"]) == ("1024", "8192")
