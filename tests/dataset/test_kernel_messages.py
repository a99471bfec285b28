"""What the kernel says of trouble: messages written after the kernel's own formats.

drivers/scsi/scsi_error.c and scsi_logging.c, drivers/scsi/mpt3sas, drivers/nvme/host/pci.c, block/blk-core.c.
"""

import pytest

from doctord.dataset.kernel_messages import KernelMessages


@pytest.mark.parametrize(
    ("message", "kind", "subject"),
    [
        ("sd 2:0:0:0: [sdc] tag#3 timing out command, waited 180s", "device reset", "sdc"),
        ("sd 2:0:0:0: [sdc] tag#9 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK", "device reset", "sdc"),
        ("scsi target2:0:1: attempting target reset! scmd(0x00000000deadbeef)", "device reset", "2:0:1"),
        ("scsi host2: attempting host reset! scmd(0x00000000deadbeef)", "device reset", "2"),
        ("nvme nvme0: I/O 7 QID 2 timeout, reset controller", "device reset", "nvme0"),
        ("I/O error, dev sdb, sector 0 op 0x1:(WRITE) flags 0x0", "I/O error", "sdb"),
        ("EXT4-fs (dm-1): Remounting filesystem read-only", "read-only", "dm-1"),
    ],
)
def test_messages_of_trouble(message: str, kind: str, subject: str) -> None:
    event = KernelMessages().event(message)
    assert event is not None
    assert (event["kind"], event["subject"]) == (kind, subject)


@pytest.mark.parametrize(
    "message",
    [
        "sd 2:0:0:0: [sdc] 41943040 512-byte logical blocks: (21.5 GB/20.0 GiB)",
        "sd 2:0:0:0: [sdc] tag#9 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK",
        "sd 2:0:0:0: Power-on or device reset occurred",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
    ],
)
def test_messages_of_every_boot(message: str) -> None:
    assert KernelMessages().event(message) is None


@pytest.mark.parametrize(
    ("before", "group"),
    [
        (
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/lab,task_memcg=/lab/a,task=postgres",
            "/lab/a",
        ),
        ("Task in /lab/b killed as a result of limit of /lab", "/lab/b"),
        ("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task=postgres", None),
    ],
)
def test_a_kill_tells_the_control_group(before: str, group: str | None) -> None:
    messages = KernelMessages()
    assert messages.event("postgres invoked oom-killer: gfp_mask=0xcc0") is None
    assert messages.event(before) is None
    event = messages.event("Killed process 14269 (postgres) total-vm:908296kB, anon-rss:408256kB")
    assert event is not None
    assert event["unit"] == group
