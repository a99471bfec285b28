"""Who answers for a file: by a tree of /proc, and a real agent."""

import ctypes
import os
from pathlib import Path

import pytest

from doctord.collect.core.notices import Notices
from doctord.collect.postgres.answering import Answering
from doctord.collect.postgres.connection.link import Link
from postgres_samples import rows_of

# include/uapi/linux/fanotify.h and fcntl.h
CONTENT, ADD, OPEN_PERM, ON_CHILD, AT_FDCWD = 0x4, 0x1, 0x10000, 0x8000000, -100

MOUNTS = """\
27 1 254:1 / / rw - ext4 /dev/vda1 rw
31 27 254:16 / /srv/data rw - ext4 /dev/vdb rw
40 27 0:52 / /srv/files rw - nfs4 files.example.net:/export rw
50 27 0:60 / /auto rw - autofs /etc/auto.home rw,fd=7,pgrp=14,timeout=300
"""
ASKS = "pos:\t0\nflags:\t02\nfanotify flags:4 event-flags:8000\nfanotify mnt_id:1f mflags:0 mask:10000 ignored_mask:0\n"
WATCHES = "pos:\t0\nfanotify flags:0 event-flags:0\nfanotify ino:5 sdev:fe00001 mflags:0 mask:20 ignored_mask:0\n"


class Here(Link):
    """A link to a server whose process is 10."""

    def __init__(self) -> None:
        self.notices = Notices()

    db = "postgresql:5432"

    def server_pid(self) -> int | None:
        return 10


def process(proc: Path, pid: int, name: str, link: str = "", fdinfo: str = "") -> None:
    folder = proc / str(pid)
    for part in ("fd", "fdinfo"):
        (folder / part).mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({name}) S 1 0")
    (folder / "wchan").write_text("hrtimer_nanosleep")
    (folder / "mountinfo").write_text(MOUNTS)
    if link:
        (folder / "fd/4").symlink_to(link)
        (folder / "fdinfo/4").write_text(fdinfo)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    process(tmp_path, 10, "postgres")
    process(tmp_path, 11, "scannerd", "anon_inode:[fanotify]", ASKS)
    process(tmp_path, 12, "indexer", "anon_inode:[fanotify]", WATCHES)
    process(tmp_path, 13, "sshfs", "/dev/fuse")
    process(tmp_path, 14, "automount")
    (tmp_path / "self").symlink_to("10")
    return tmp_path


def told(proc: Path, *events: str) -> dict[str, str]:
    return {row["name"]: row["value"] for row in rows_of("setting", Answering(proc).look(Here(), events))}


@pytest.mark.parametrize(
    ("event", "who"),
    [
        ("fanotify_handle_event", "process 11 (scannerd), state S in hrtimer_nanosleep, asked of files of /srv/data"),
        ("request_wait_answer", "process 13 (sshfs), state S in hrtimer_nanosleep"),
        ("rpc_wait_bit_killable", "server files.example.net:/export at /srv/files"),
        ("autofs_wait", "process 14 (automount), state S in hrtimer_nanosleep"),
    ],
)
def test_who_answers(proc: Path, event: str, who: str) -> None:
    assert told(proc, event) == {f"answered_by.{event}": who}


def test_a_mark_of_a_file_system_is_told_by_its_mount(proc: Path) -> None:
    mark = "fanotify sdev:fe00010 mflags:100 mask:20010000 ignored_mask:0"
    (proc / "11/fdinfo/4").write_text(f"fanotify flags:4 event-flags:8000\n{mark}\n")
    assert told(proc, "fanotify_handle_event")["answered_by.fanotify_handle_event"].endswith("files of /srv/data")


def test_other_places_stand_for_nobodys_answer(proc: Path) -> None:
    assert told(proc, "jbd2_log_wait_commit", "anon_pipe_write: stderr") == {}


def test_it_is_looked_for_once_a_minute(proc: Path) -> None:
    answering, link = Answering(proc), Here()
    assert answering.look(link, ["request_wait_answer"])
    assert not answering.look(link, ["request_wait_answer"])


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="permission events need root")
def test_a_real_agent_is_found_with_what_it_is_asked_of(tmp_path: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    group = libc.fanotify_init(CONTENT, os.O_RDONLY)
    if group < 0:
        pytest.skip(f"no fanotify here: {os.strerror(ctypes.get_errno())}")
    try:
        asked = ctypes.c_uint64(OPEN_PERM | ON_CHILD)
        assert libc.fanotify_mark(group, ADD, asked, AT_FDCWD, os.fsencode(tmp_path)) == 0
        who = told(Path("/proc"), "fanotify_handle_event")["answered_by.fanotify_handle_event"]
    finally:
        os.close(group)
    assert f"process {os.getpid()} (" in who
    assert "asked of files of /" in who
