"""What the kernel's log tells: processes that it killed, tasks that hang, devices that fail."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import polars as pl

from doctord.analyse.host.processes import DATABASE_COMMAND
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

KILLS = ("oom kill", "oom kill in control group")
ROOT_GROUP = "/"
FAILING = ("I/O error", "device reset", "read-only")
# Floppies of virtual machines that have none, optical drives, what is plugged in: nothing of a database is there.
BESIDE = r"^((fd|sr|scd)\d|usb)"
MOST_TOLD = 4
# What a server that was killed does next, for how long: it reads the log of one checkpoint_timeout again.
AFTERWARDS = ("crash", "restart", "no answer", "refused")
RECOVERY = timedelta(minutes=5)
# Processes that a server has from its start, and anew after one of its sessions was killed.
FROM_ITS_START = r"checkpointer|background writer|walwriter|^ora_(pmon|dbw|lgwr)|^(mysqld|mariadbd)"
# What the investigator of 2008 ended with for one LUN: more brought resets.
DEPTH_OF_LUN = 30


@cause(explains=("server_restarted", "server_does_not_answer"))
def oom_killed(case: Case) -> Iterator[Claim]:
    """The kernel killed processes because memory had run out.

    Looks like: `Out of memory: Killed process` in the kernel's log, or the same for a control group's memory.
    Hurts because: a killed backend takes all sessions of its server with it, as shared memory may be damaged; a killed
        server recovers first.
    Speaks for it: who was killed, when, and how much memory of its own it held.
    Speaks against it: servers that are older than the kill, or run in other control groups, all of them: none of
        these was hit. A process that was killed need not be the one that grew.
    Remedy: Look in the same log at the list of processes before the kill: who holds most. Limit what grew, or move it
        to another host; then give the host, or the group, more memory.
        PostgreSQL: vm.overcommit_memory = 2, and oom_score_adj = -1000 for the postmaster with
        PG_OOM_ADJUST_FILE for its children; lower work_mem and hash_mem_multiplier, fewer sessions at once.
        Oracle: lower pga_aggregate_limit, use huge pages for the SGA.
        MySQL: lower innodb_buffer_pool_size and the buffers of each session; OOMScoreAdjust= in its unit.
    Verify: No new kill in the kernel's log (journalctl -k -g "Killed process") at the same load.
    Source: Kernel documentation, "Concepts overview: OOM killer" and "Control Group v2", memory.events; PostgreSQL
        documentation, "Linux Memory Overcommit".
    """
    events = case.dataset.frame("event")
    for kind in KILLS:
        killed = events.filter(pl.col("kind") == kind)
        if killed.is_empty():
            continue
        databases = killed.filter(pl.col("subject").str.contains(DATABASE_COMMAND))
        is_group, spared = kind != KILLS[0], _spared(case, killed)
        is_ours = not databases.is_empty() and not spared
        yield Claim(
            _title(killed, is_group=is_group),
            impact=NOT_MEASURED,
            severity="critical" if is_ours else "note" if is_group and spared else "warning",
            confidence=0.95,
            for_=_last(killed),
            against=spared,
            explains_waits=is_ours and not _was_long_before(events, databases),
        )


def _spared(case: Case, killed: pl.DataFrame) -> list[Evidence]:
    """That no server that is seen here can have been hit; empty where one may have been, or none is seen."""
    if not _went_away(case.dataset.frame("event")).is_empty():
        return []
    return _in_other_groups(case, killed) or _older(case, killed)


def _went_away(events: pl.DataFrame) -> pl.DataFrame:
    """Events of servers that went away or did not answer; that statistics began anew is a `restart` of those alone."""
    of_figures = (pl.col("kind") == "restart") & (pl.col("subject") != pl.col("db"))
    return events.filter(pl.col("kind").is_in(AFTERWARDS) & ~of_figures.fill_null(value=False))


def _in_other_groups(case: Case, killed: pl.DataFrame) -> list[Evidence]:
    """That all servers here run in other control groups than those of the kills.

    A process without a unit is in the root group, if any process is told to be in another one; else nobody looked, or
    looked from within a container, where its own group is the root.
    """
    processes = case.dataset.frame("process")
    servers = processes.filter(pl.col("command").str.contains(DATABASE_COMMAND))
    groups = killed["unit"].unique(maintain_order=True).to_list()
    units = servers["unit"].unique(maintain_order=True).to_list()
    is_told = processes["unit"].drop_nulls().len() > 0
    if not units or not is_told or None in groups or any(_is_of(unit, group) for unit in units for group in groups):
        return []
    return [Evidence("event", "unit is not null", phrase("killed in control group {}", groups[-1]), "",
                     "no server that is seen here runs in it")]  # fmt: skip


def _is_of(unit: str | None, group: str) -> bool:
    """Whether a process of a unit, container (`container 4f1c0a2b3c4d`) or group may be of a control group.

    >>> _is_of("app.service", "/system.slice/app.service/x"), _is_of("app.service", "/system.slice/my-app.service")
    (True, False)
    >>> _is_of("/a", "/a/b"), _is_of("/a/b", "/a"), _is_of("/a", "/ab"), _is_of("/a", "/"), _is_of(None, "/")
    (True, True, False, False, True)
    """
    if unit is None:
        return group == ROOT_GROUP
    if unit.startswith("/"):
        return f"{group}/".startswith(f"{unit}/") or f"{unit}/".startswith(f"{group}/")
    number = unit.removeprefix("container ")
    parts = group.split("/")
    return unit in parts or (number != unit and any(part.rpartition("-")[2].startswith(number) for part in parts))


def _older(case: Case, killed: pl.DataFrame) -> list[Evidence]:
    """That all servers here have run since before the kills."""
    servers = case.dataset.frame("process").filter(pl.col("command").str.contains(FROM_ITS_START))
    youngest, first = servers["started"].max(), killed["ts"].min()
    if not isinstance(youngest, datetime) or not isinstance(first, datetime) or youngest > first:
        return []
    figure = phrase("the database servers here have run since {:%Y-%m-%d %H:%M:%S} and longer", youngest)
    return [Evidence("process", f"command ~ '{FROM_ITS_START}'", figure, "", "none of them was hit")]


def _was_long_before(events: pl.DataFrame, killed: pl.DataFrame) -> bool:
    """Whether servers went away or did not answer, all of them later than a recovery from the kills takes."""
    trouble = _went_away(events)["ts"].to_list()
    return bool(trouble) and min(trouble) > max(killed["ts"].to_list()) + RECOVERY


def _title(killed: pl.DataFrame, *, is_group: bool) -> Words:
    where = "a control group" if is_group else "the host"
    names = killed["subject"].drop_nulls().unique(maintain_order=True).to_list()
    if killed.height == 1:
        return phrase("The memory of {} ran out: {} was killed", where, names[0])
    return phrase("The memory of {} ran out: {} processes were killed, {} last", where, killed.height, names[-1])


@cause(explains=("tasks_hung", "device_slow", "reads_slow", "slow_file", "commits_slow", "log_device_slow"))
def devices_fail(case: Case) -> Iterator[Claim]:
    """The kernel reports errors of devices, resets of their links, or file systems that were made read-only.

    Looks like: `I/O error, dev`, `resetting link`, `timeout, reset controller`, `Remounting filesystem read-only` in
        the kernel's log.
    Hurts because: each command that fails was tried again for up to minutes, and all behind it waited; what a database
        could not write or sync is lost, and it stops.
    Speaks for it: how many, of which device, from when to when; commands that timed out behind a queue that is too
        deep.
    Speaks against it: a single one long ago; devices that hold nothing of the database (USB, optical drives).
    Remedy: Find what the device is of (lsblk, multipath -ll), and its health (smartctl -a, nvme smart-log, the array's
        own log); paths and cables before disks where there are several. A file system that went read-only is to be
        checked offline; look whether the database needs a restore (checksums).
        Commands that time out while dozens are outstanding: lower queue_depth of the device to about 30 for a LUN.
    Verify: No new messages of that device; its read and write times without outliers.
    Source: Kernel documentation, "SCSI EH" (how errors are tried again) and "ext4" (errors=remount-ro).
    """
    events = case.dataset.frame("event").filter(pl.col("kind").is_in(FAILING))
    if events.is_empty():
        return
    counted = (
        events.group_by("subject", "kind", maintain_order=True)
        .agg(pl.len().alias("count"), pl.col("ts").min().alias("first"), pl.col("ts").max().alias("last"))
        .sort("count", "subject", descending=[True, False], maintain_order=True)
    )
    others = events.filter(~pl.col("subject").fill_null("").str.contains(BESIDE)).height
    is_read_only = not events.filter(pl.col("kind") == "read-only").is_empty()
    worst = counted.row(0, named=True)
    yield Claim(
        phrase("The kernel reports {} errors of devices, most of all of {}", events.height, worst["subject"])
        if events.height > 1
        else phrase("The kernel reports an error of {}", worst["subject"]),
        impact=NOT_MEASURED,
        severity="critical" if is_read_only else "warning" if others > 1 else "note",
        confidence=0.9,
        for_=[
            *_deep_queues(case, counted),
            *(Evidence("event", f"kind = '{row['kind']}' and subject = '{row['subject']}'",
                       phrase("{}: {:count time/times} {}", row["subject"], row["count"], row["kind"]), "none",
                       phrase("{:%Y-%m-%d %H:%M:%S} to {:%Y-%m-%d %H:%M:%S}", row["first"], row["last"]))
              for row in counted.head(MOST_TOLD).iter_rows(named=True)),
        ],
    )  # fmt: skip


@cause()
def tasks_hung(case: Case) -> Iterator[Claim]:
    """Tasks hang in the kernel: they wait for a disk, a network file system or a lock of its own for minutes.

    Looks like: `INFO: task ... blocked for more than 120 seconds` in the kernel's log.
    Hurts because: such a task cannot even be killed; what it holds, others wait for.
    Speaks for it: how many tasks, which, and from when to when.
    Speaks against it: nothing: the kernel counts the time. Not more than ten are told after a boot
        (hung_task_warnings), so that later ones are missing.
    Remedy: Read the call trace below each message: it names what is waited for (io_schedule and a file system: the
        storage; nfs: its server; memory reclaim: memory). Ask the storage's and the multipath daemon's logs of that
        time; dirty pages that are written all at once hang tasks too: lower vm.dirty_bytes.
    Verify: No new messages, and /proc/pressure/io without full stalls at the same load.
    Source: Kernel documentation, sysctl/kernel: hung_task_timeout_secs, hung_task_warnings.
    """
    hung = case.dataset.frame("event").filter(pl.col("kind") == "hung task")
    if hung.is_empty():
        return
    names = hung["subject"].drop_nulls().unique(maintain_order=True).to_list()
    yield Claim(
        phrase("Tasks hung in the kernel {:count time/times}: {}", hung.height, shortened(", ".join(names), 60)),
        impact=NOT_MEASURED,
        severity="warning",
        confidence=0.9,
        for_=_last(hung),
    )


def _deep_queues(case: Case, counted: pl.DataFrame) -> list[Evidence]:
    """Devices that were reset while more was asked of them at a time than an array can work on."""
    reset = counted.filter(pl.col("kind") == "device reset")["subject"].to_list()
    disks = case.dataset.frame("disk").filter(pl.col("device").is_in(reset) & (pl.col("device_queue") > DEPTH_OF_LUN))
    deepest = disks.group_by("device", maintain_order=True).agg(pl.col("device_queue").max())
    return [
        Evidence("disk", f"device = '{device}'", phrase("{:.0f} requests at a time given to {}", queue, device),
                 phrase("{} for a LUN", DEPTH_OF_LUN), "too deep a queue lets commands time out", "at_least")
        for device, queue in deepest.iter_rows()
    ]  # fmt: skip


def _last(events: pl.DataFrame) -> list[Evidence]:
    """The last of some events, with the words of each."""
    return [
        Evidence("event", f"kind = '{row['kind']}'", phrase("{:%Y-%m-%d %H:%M:%S}", row["ts"]), "",
                 shortened(row["text"] or ""))
        for row in events.sort("ts", maintain_order=True).tail(MOST_TOLD).iter_rows(named=True)
    ]  # fmt: skip
