"""/etc/system and lpfc.conf."""

from reading import picked, read_sample


def test_etc_system() -> None:
    reading = read_sample("etc_system.txt")
    assert (reading.format, reading.skipped_lines) == ("/etc/system (Solaris)", 0)
    held = dict(picked(reading, "setting", "name", "value", component="solaris"))
    assert held["shmsys:shminfo_shmmax"] == str(8 << 30), "hexadecimal"
    assert held["ssd:ssd_max_throttle"] == "20"
    assert "rechoose_interval" not in held, "a comment"


def test_lpfc() -> None:
    reading = read_sample("lpfc_conf.conf")
    assert reading.skipped_lines == 0
    held = dict(picked(reading, "setting", "name", "value", component="lpfc"))
    assert (held["lun-queue-depth"], held["linkdown-tmo"]) == ("16", "30")


def test_vxiod() -> None:
    reading = read_sample("vxiod.txt")
    assert (reading.skipped_lines, picked(reading, "setting", "component", "name", "value")) == (
        0,
        [("vxvm", "vxiod", "16")],
    )
