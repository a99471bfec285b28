from diagnose.hosts import GIB, host
from doctord.analyse.storage.filesystems import left_bytes, mount_of, newest, rooms

RESERVED = {"mount": "/", "size_bytes": 250 * GIB, "used_bytes": 60 * GIB, "available_bytes": 20 * GIB}
DATA = {"mount": "/data", "device": "/dev/vdb", "size_bytes": 100 * GIB, "used_bytes": 40 * GIB}


def test_the_share_is_that_of_df() -> None:
    root, data = newest(host(filesystems=[RESERVED, DATA])).iter_rows(named=True)
    assert root["used_share"] == 0.75
    assert root["left_bytes"] == 20 * GIB
    assert data["used_share"] == 0.4  # what is available was not told: all that is free
    assert data["left_bytes"] == 60 * GIB


def test_one_without_any_room_has_no_share() -> None:
    """As a file system in user space, or one that is about to be unmounted, tells of itself."""
    nothing = {"mount": "/none", "device": "none", "size_bytes": 0, "used_bytes": 0, "available_bytes": 0}
    root, none = newest(host(filesystems=[RESERVED, nothing])).iter_rows(named=True)
    assert (root["used_share"], none["used_share"]) == (0.75, None)


def test_a_folder_lies_on_the_nearest_mount_above_it() -> None:
    dataset = host(filesystems=[RESERVED, DATA])
    assert left_bytes(dataset, "/data/base") == 60 * GIB
    assert left_bytes(dataset, "/database") == 20 * GIB
    assert left_bytes(dataset, None) is None


def test_the_mount_above_a_folder_is_one_of_those_whose_room_is_known() -> None:
    dataset = host(filesystems=[RESERVED, DATA])
    assert rooms(dataset) == {"/": 20 * GIB, "/data": 60 * GIB}
    assert (mount_of(dataset, "/data/base"), mount_of(dataset, "/srv"), mount_of(dataset, None)) == ("/data", "/", None)
