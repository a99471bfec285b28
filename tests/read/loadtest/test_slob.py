"""slob.conf."""

from reading import picked, read_sample


def test_settings() -> None:
    reading = read_sample("slob.conf")
    assert (reading.format, reading.skipped_lines) == ("slob.conf (SLOB)", 0)
    held = dict(picked(reading, "setting", "name", "value", component="slob"))
    assert held["SCALE"] == "2G"
    assert held["DATABASE_STATISTICS_TYPE"] == "awr", "what follows a # is a comment"
    assert "ADMIN_SQLNET_SERVICE" not in held, "set to nothing"
