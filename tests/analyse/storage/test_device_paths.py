"""Where the folders of servers lie."""

from diagnose.hosts import DB, host
from doctord.analyse.storage.device_paths import DevicePath, device_paths


def test_a_folder_is_of_the_server_that_told_of_it() -> None:
    other = "postgresql:5433"
    rows = [
        {"component": "kernel", "db": db, "name": f"path.{folder}.{part}", "value": value}
        for db, folder in ((DB, "/a"), (other, "/b"), (None, "/c"))
        for part, value in (("holds", "WAL"), ("mount", "/"), ("filesystem", "xfs"), ("devices", "vda1 vda"))
    ]
    assert device_paths(host(extra={"setting": rows})) == [
        DevicePath(folder, "xfs", "/", ("vda1", "vda"), "WAL", db)
        for folder, db in (("/a", DB), ("/b", other), ("/c", None))
    ]
