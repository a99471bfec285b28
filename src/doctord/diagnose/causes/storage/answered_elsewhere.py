"""Files that are opened only once somebody else has answered: an agent that is asked, or a program that serves them."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.time import TimeShare
from doctord.dataset.waits.advice import advice
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase

ANSWERED_BY: Final = "answered_by."
# Functions of the kernel in which a process sleeps until another one has answered, and who that is.
ASKED: Final = {
    "fanotify_": "an agent that is asked before a file is opened (fanotify)",
    "request_wait_answer": "the program that serves a file system (FUSE)",
    "fuse_": "the program that serves a file system (FUSE)",
    "handle_userfault": "the program that fetches its pages (userfaultfd)",
    "autofs_": "the automounter",
    "nfs": "a server of files on the network (NFS)",
    "rpc_": "a server of files on the network (NFS)",
    "cifs_": "a server of files on the network (SMB)",
    "ceph_": "a server of files on the network (Ceph)",
}
LEAST: Final = 0.1
UNSEEN: Final = NotMeasured(
    "which process or server has to answer",
    "descriptors of others' processes are shown to root alone",
    "run as root: the name, state and place of the process that is asked",
)


@cause(explains=("logins_slow", "clients_wait_to_connect"))
def file_access_waits_for_an_answer(case: Case) -> Iterator[Claim]:
    """Sessions may open or read files only once another process or server has answered, which does so late.

    Looks like: sessions at work sleep in a function of the kernel that stands for another's answer, as
        fanotify_handle_event or request_wait_answer, where the server names no wait; new sessions, who open most
        files, are slow; the disks are quick.
    Hurts because: each file that is opened costs the other's time, in every session, one after the other where the
        other has one thread; one that hangs stops all.
    Speaks for it: the share of the time in that function; which process is asked (who has a fanotify group with
        permission events, serves FUSE, or mounts), its state, and for which file systems; or the server of the mount.
    Speaks against it: nothing: the kernel says in which function they sleep.
    Remedy: See what the other does (its state, CPU and log). An agent (virus scanner, security, backup, archiving):
        leave the server's data directory, tablespaces and WAL out of what it watches, or have it told afterwards in
        place of asked before; as long as it hangs, end it: the kernel then lets all go on that wait for it. A file
        system that a program or another host serves: its own figures, and a local one for the data.
    Verify: No session is seen in that function, and a new session is as quick as before.
    Source: fanotify(7), "Dealing with permission events"; fanotify_mark(2), FAN_OPEN_PERM; proc_pid_fdinfo(5); Kernel
        documentation, "FUSE" and "Userfaultfd"; autofs(5); nfs(5).
    """
    for part in case.time.shares if case.time.of == "database" else ():
        who = next((words for begin, words in ASKED.items() if part.event.startswith(begin)), None)
        if who is not None and part.share >= LEAST and case.worth_saying(part.share):
            yield from _asked(case, part, who)


def _asked(case: Case, part: TimeShare, who: str) -> Iterator[Claim]:
    seen = case.active.filter(case.active["event"] == part.event)
    dbs = seen["db"].drop_nulls().unique(maintain_order=True).to_list()
    named = {db: case.setting(f"{ANSWERED_BY}{part.event}", db) for db in dbs}
    told = next((value for value in named.values() if value), None)
    by: Words = phrase("{}", told.partition(",")[0]) if told else who
    yield Claim(
        phrase("Sessions wait until {} answers before they get at files: {:share of database}", by, part.share),
        impact=part.share,
        confidence=0.9 if told else 0.75,
        for_=[
            Evidence("session", f"event = '{part.event}'",
                     phrase("{:share of database} in {}", part.share, part.event), phrase("{:share}", LEAST),
                     advice(part.event, part.wait_kind).meaning, "at_least"),
            *(Evidence("setting", f"name = '{ANSWERED_BY}{part.event}' and db = '{db}'", phrase("{}", value), "",
                       phrase("it is {}", who)) for db, value in named.items() if value),
        ],
        not_measured=() if told else (UNSEEN,),
        database=str(dbs[0]) if len(dbs) == 1 else None,
    )  # fmt: skip
