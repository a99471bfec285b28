"""nsswitch.conf."""

from reading import picked, read_sample


def test_sources_in_their_order() -> None:
    reading = read_sample("nsswitch.conf")
    assert (reading.format, reading.skipped_lines) == ("nsswitch.conf", 0)
    held = dict(picked(reading, "setting", "name", "value", component="nsswitch"))
    assert held["hosts"] == "cluster nis [NOTFOUND=return] files dns"
