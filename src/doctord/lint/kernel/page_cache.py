"""What the kernel keeps of files in memory, and how much of it may be dirty."""

from collections.abc import Iterator

from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import databases
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation
from doctord.units import GIB

MUCH_DIRTY_BYTES = 16 << 30


@rule("kernel")
def dirty_limit_large(subject: Subject) -> Iterator[Violation]:
    """So many dirty pages may gather that one flush takes long.

    Why: an fsync or a checkpoint waits for all of the file's pages; a percentage of a large memory is many
        gigabytes.
    Evidence: vm.dirty_background_ratio and vm.dirty_ratio times the memory.
    Fix: Set vm.dirty_background_bytes to what the disk writes in a second or two, vm.dirty_bytes to a few times that.
    Verify: Dirty and Writeback in /proc/meminfo; sync time of checkpoints; write latency at checkpoints.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst; G. Smith, PostgreSQL 9.0 High Performance, 2010.
    """
    memory, ratio = subject.machine.memory_bytes, subject.number("vm.dirty_background_ratio")
    if not memory or not ratio or subject.number("vm.dirty_background_bytes") or not databases(subject):
        return
    dirty = ratio / 100 * memory
    if dirty >= MUCH_DIRTY_BYTES:
        yield subject.violation(
            phrase(
                "vm.dirty_background_ratio = {:.0f}: {:bytes} may be dirty before anything is written", ratio, dirty
            ),
            "vm.dirty_background_ratio",
            "vm.dirty_ratio",
            cost=phrase("{:.0f} s of writing at 1 GiB/s, which a checkpoint's fsync has to wait for", dirty / GIB),
            severity=Severity.WARNING,
            changes=[subject.change("vm.dirty_background_bytes", str(256 << 20), "now")],
        )


@rule("kernel")
def dirty_limits_contradict(subject: Subject) -> Iterator[Violation]:
    """A limit for dirty pages is written as bytes and as a ratio: the later one wins, the other becomes 0.

    Why: whoever changes the first one changes nothing.
    Evidence: both lines.
    Fix: Keep one of the two.
    Verify: sysctl vm.dirty_bytes vm.dirty_ratio: one of them is 0.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst.
    """
    written = {one.name: one for one in subject.rows if not one.is_running and one.value.strip() != "0"}
    for kind in ("dirty", "dirty_background"):
        held = [written[name] for name in (f"vm.{kind}_bytes", f"vm.{kind}_ratio") if name in written]
        if len(held) == 2:
            yield subject.violation(
                f"{held[0].name} and {held[1].name}: the later one counts",
                settings=held,
                cost="one of the two is not in force, though it is written",
                severity=Severity.WARNING,
            )


@rule("kernel")
def cache_pressure_zero(subject: Subject) -> Iterator[Violation]:
    """Names of files are never thrown out of memory.

    Why: they grow until the OOM killer comes.
    Evidence: vm.vfs_cache_pressure.
    Fix: Set vm.vfs_cache_pressure = 50 or more.
    Verify: SReclaimable in /proc/meminfo stops growing.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst, vfs_cache_pressure.
    """
    if subject.number("vm.vfs_cache_pressure") == 0:
        yield subject.violation(
            "vm.vfs_cache_pressure = 0",
            "vm.vfs_cache_pressure",
            cost="availability: inodes and dentries fill the memory, and the OOM killer ends the database",
            severity=Severity.WARNING,
            changes=[subject.change("vm.vfs_cache_pressure", "100", "now")],
        )
