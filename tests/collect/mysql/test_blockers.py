"""Who stands before whom, by the metadata locks that a server tells."""

import pytest

from doctord.collect.mysql.blockers import MetadataLock, behind


def lock(sid: int, kind: str, mode: str, *, held: bool) -> MetadataLock:
    return MetadataLock(sid, kind, "shop", "t", mode, held)


@pytest.mark.parametrize(
    ("kind", "held", "wanted", "is_behind"),
    [
        ("TABLE", "SHARED_READ", "EXCLUSIVE", True),
        ("TABLE", "SHARED_READ", "SHARED_WRITE", False),
        ("BACKUP LOCK", "SHARED", "INTENTION_EXCLUSIVE", True),
        ("BACKUP LOCK", "INTENTION_EXCLUSIVE", "SHARED", True),
        ("GLOBAL", "SHARED", "INTENTION_EXCLUSIVE", True),
        ("GLOBAL", "INTENTION_EXCLUSIVE", "INTENTION_EXCLUSIVE", False),
        ("COMMIT", "SHARED", "SHARED", False),
        ("USER LEVEL LOCK", "EXCLUSIVE", "EXCLUSIVE", True),
    ],
)
def test_who_holds_what_another_wants(kind: str, held: str, wanted: str, *, is_behind: bool) -> None:
    locks = [lock(1, kind, held, held=True), lock(2, kind, wanted, held=False)]
    assert behind(locks) == ({2: 1} if is_behind else {})


def test_locks_on_other_things_are_in_nobody_s_way() -> None:
    assert behind([lock(1, "SCHEMA", "EXCLUSIVE", held=True), lock(2, "TABLE", "SHARED_READ", held=False)]) == {}
