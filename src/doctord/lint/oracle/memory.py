"""Oracle's memory: the SGA and its pools, huge pages, work areas."""

from collections.abc import Iterator
from math import ceil

from doctord.diagnose.finding import NotMeasured
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.lint.oracle.figures import page_table_bytes, sga_bytes, waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

EXPLICIT_POOLS = ("java_pool_size", "large_pool_size", "streams_pool_size", "shared_pool_size", "db_cache_size")
MUCH_OF_TARGET = 0.25
# Page tables that take less than a fiftieth of the memory are not worth a restart.
MUCH_OF_MEMORY = 0.02
WORTH_HUGE_PAGES = 1 << 30
TEMP = ("direct path read temp", "direct path write temp")


@rule("oracle", since=(10, 1))
def explicit_pools_under_sga_target(subject: Subject) -> Iterator[Violation]:
    """Pools have sizes of their own although sga_target divides the memory.

    Why: each is a floor: memory that automatic tuning can give to nobody else.
    Evidence: the pools' sizes against sga_target.
    Fix: Take the sizes out; keep a floor only where v$sga_resize_ops showed a pool shrink to harm.
    Verify: v$sga_dynamic_components at the same load.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012.
    """
    target = subject.number("sga_target") or subject.number("memory_target")
    held = [found for name in EXPLICIT_POOLS if (found := subject.explicit(name)) and found.number]
    floor = sum(one.number or 0.0 for one in held)
    if not target or not floor:
        return
    yield subject.violation(
        f"{', '.join(one.name for one in held)} beside sga_target",
        *(one.name for one in held),
        cost=phrase("{:bytes} of {:bytes} ({:share}) cannot be given to another pool", floor, target, floor / target),
        severity=Severity.WARNING if floor >= MUCH_OF_TARGET * target else Severity.NOTE,
        changes=[subject.change(one.name, None, "now") for one in held],
    )


@rule("oracle")
def memory_overcommitted(subject: Subject) -> Iterator[Violation]:
    """SGA and PGA together are more than the machine's memory.

    Why: the host pages, and a database that pages stands still.
    Evidence: the targets against the memory.
    Fix: Lower sga_target and pga_aggregate_target until they fit with a tenth of the memory to spare.
    Verify: No paging at peak (vmstat si, so).
    Source: J. Doelle and S. Langer, IBM 2012 (memory overcommitment was the largest cause).
    """
    memory, sga = subject.machine.memory_bytes, sga_bytes(subject)
    pga = 0.0 if subject.number("memory_target") else subject.number("pga_aggregate_target") or 0.0
    if memory and sga and sga + pga > memory:
        yield subject.violation(
            phrase("{:bytes} of SGA and PGA on {:bytes} of memory", sga + pga, memory),
            "sga_target",
            "sga_max_size",
            "memory_target",
            "pga_aggregate_target",
            cost=phrase("{:bytes} + {:bytes} - {:bytes} = {:bytes} paged out", sga, pga, memory, sga + pga - memory),
            severity=Severity.ERROR,
        )


@rule("oracle")
def huge_pages_do_not_cover_sga(subject: Subject) -> Iterator[Violation]:
    """There are huge pages, but fewer than the SGA needs: it falls back to small pages entirely.

    Why: the huge pages stand unused, and every session needs page tables of its own for the whole SGA.
    Evidence: the SGA against huge pages and their size; page tables of processes x SGA / 4 KiB x 8.
    Fix: Set vm.nr_hugepages to the SGA divided by the page's size, rounded up, and memlock above it (doctord size).
    Verify: HugePages_Free falls when the instance starts; use_large_pages=only refuses to start without.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012; Oracle Database Reference,
        USE_LARGE_PAGES.
    """
    total, size = subject.machine.memory("huge_pages_total"), subject.machine.memory("huge_page_bytes")
    sga = sga_bytes(subject)
    if not sga or not size or not total or total * size >= sga or subject.number("memory_target"):
        return
    tables = page_table_bytes(subject)
    needed = ceil(sga / size)
    yield subject.violation(
        phrase("{:.0f} huge pages cover {:bytes} of an SGA of {:bytes}", total, total * size, sga),
        "sga_target",
        "sga_max_size",
        "use_large_pages",
        cost=listed(
            phrase("{:bytes} of huge pages unused; {} are needed", total * size, needed),
            phrase("page tables of up to {:bytes}", tables) if tables else "",
            by="; ",
        ),
        severity=Severity.WARNING,
        fix=phrase(
            "Set vm.nr_hugepages = {}, memlock above {:bytes}, and restart the instance.", needed, needed * size
        ),
    )


@rule("oracle")
def page_tables_large(subject: Subject) -> Iterator[Violation]:
    """Without huge pages each session maps the SGA in pages of 4 KiB, and page tables take gigabytes.

    Why: memory that nobody counts, and a CPU that walks tables.
    Evidence: processes x SGA / 4 KiB x 8; PageTables in /proc/meminfo.
    Fix: Give the SGA huge pages (doctord size).
    Verify: PageTables in /proc/meminfo at the same number of sessions.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012 (0.5 GB up to several GB).
    """
    sga, tables, memory = sga_bytes(subject), page_table_bytes(subject), subject.machine.memory_bytes
    pages, now = subject.machine.memory("huge_pages_total"), subject.machine.memory("page_tables_bytes")
    large = (subject.text("use_large_pages") or "").strip("'\"").lower()
    if not sga or not tables or sga < WORTH_HUGE_PAGES or pages or large == "only" or _is_elsewhere(subject):
        return
    sum_ = phrase("{:.0f} processes x {:bytes} / 4 KiB x 8 bytes = {:bytes}", subject.number("processes"), sga, tables)
    if memory is None or pages is None:
        not_measured = [
            NotMeasured("huge pages of the host", "no /proc/meminfo was given", "doctord lint init.ora /proc/meminfo")
        ]
        title = phrase("page tables of up to {:bytes}, if the SGA has no huge pages", tables)
        yield subject.violation(
            title, "processes", "sga_target", cost=phrase("{}: {}", CANNOT_JUDGE, sum_), not_measured=not_measured
        )
    elif max(tables, now or 0.0) >= MUCH_OF_MEMORY * memory:
        seen = phrase("; {:bytes} now", now) if now else ""
        yield subject.violation(
            phrase("no huge pages for an SGA of {:bytes}: page tables of up to {:bytes}", sga, tables),
            "processes",
            "sga_target",
            cost=phrase("{}, of {:bytes} of memory{}", sum_, memory, seen),
            severity=Severity.WARNING,
        )


@rule("oracle", since=(11, 1))
def memory_target_without_huge_pages(subject: Subject) -> Iterator[Violation]:
    """memory_target keeps the SGA in /dev/shm, which huge pages cannot back.

    Why: every session needs page tables for the whole of it.
    Evidence: memory_target; page tables of processes x memory_target / 4 KiB x 8.
    Fix: Use sga_target and pga_aggregate_target with huge pages instead.
    Verify: HugePages_Free falls when the instance starts; PageTables in /proc/meminfo.
    Source: Oracle Database Administrator's Reference for Linux, HugePages (incompatible with AMM).
    """
    target, tables = subject.number("memory_target"), page_table_bytes(subject)
    if target and target >= 4 * WORTH_HUGE_PAGES and not _is_elsewhere(subject):
        yield subject.violation(
            phrase("memory_target = {:bytes}: no huge pages", target),
            "memory_target",
            cost=phrase("page tables of up to {:bytes}", tables)
            if tables
            else f"{CANNOT_JUDGE}: how many processes there are",
            severity=Severity.WARNING if tables else Severity.NOTE,
            changes=[subject.change("memory_target", None, "restart")],
        )


@rule("oracle", since=(11, 2))
def large_pages_refused(subject: Subject) -> Iterator[Violation]:
    """use_large_pages=false leaves the host's huge pages unused.

    Why: the SGA takes small pages, whatever the host has set aside.
    Evidence: use_large_pages; huge pages of the host.
    Fix: Set use_large_pages=only, so that it starts with huge pages or not at all.
    Verify: HugePages_Free falls when the instance starts.
    Source: Oracle Database Reference, USE_LARGE_PAGES.
    """
    tables = page_table_bytes(subject)
    if subject.flag("use_large_pages") is False and tables and not _is_elsewhere(subject):
        yield subject.violation(
            "use_large_pages = false",
            "use_large_pages",
            cost=phrase("page tables of up to {:bytes} for {:.0f} processes", tables, subject.number("processes")),
            severity=Severity.WARNING,
            changes=[subject.change("use_large_pages", "only", "restart")],
        )


@rule("oracle", since=(11, 1))
def lock_sga_with_memory_target(subject: Subject) -> Iterator[Violation]:
    """lock_sga cannot be had with memory_target.

    Why: the instance does not start (ORA-00847).
    Evidence: both settings.
    Fix: Take memory_target out; huge pages are locked anyway.
    Verify: The instance starts.
    Source: Oracle Database Reference, LOCK_SGA.
    """
    if subject.flag("lock_sga") and subject.number("memory_target"):
        yield subject.violation(
            "lock_sga with memory_target: the instance does not start",
            "lock_sga",
            "memory_target",
            cost="availability: no start (ORA-00847)",
            severity=Severity.ERROR,
            changes=[subject.change("memory_target", None, "restart")],
        )


@rule("oracle")
def work_areas_set_by_hand(subject: Subject) -> Iterator[Violation]:
    """Sizes of sorts and hash joins are set by hand, or set and ignored.

    Why: with workarea_size_policy=auto they do nothing; with manual each session takes that much, however
        many there are.
    Evidence: sort_area_size, hash_area_size, workarea_size_policy, processes, memory.
    Fix: workarea_size_policy=auto and a pga_aggregate_target; take the sizes out.
    Verify: v$sql_workarea_histogram: optimal, onepass, multipass executions.
    Source: Oracle Database Performance Tuning Guide, Tuning the Program Global Area.
    """
    names = ("sort_area_size", "hash_area_size", "sort_area_retained_size", "bitmap_merge_area_size")
    held = [found for name in names if (found := subject.explicit(name)) and found.number]
    by_hand = (subject.text("workarea_size_policy") or "").lower() == "manual"
    if not held and not by_hand:
        return
    each, processes = sum(one.number or 0.0 for one in held), subject.number("processes")
    if by_hand:
        most = (
            phrase("{:.0f} processes x {:bytes} = {:bytes}", processes, each, processes * each)
            if processes
            else "unlimited"
        )
        title, severity = "workarea_size_policy = manual", Severity.WARNING
        cost: Words = phrase("up to {}, given back at log-off", most)
    else:
        title = f"{', '.join(one.name for one in held)}: ignored while workarea_size_policy is auto"
        cost, severity = "nothing; whoever changes them changes nothing", Severity.NOTE
    changes = [subject.change(one.name, None, "now") for one in held]
    names_held = ("workarea_size_policy", *(one.name for one in held))
    yield subject.violation(title, *names_held, cost=cost, severity=severity, changes=changes)


@rule("oracle")
def pga_target_small(subject: Subject) -> Iterator[Violation]:
    """Sorts and hash joins go to temporary files while pga_aggregate_target is small.

    Why: what does not fit into work areas is written to temp and read again.
    Evidence: time waited for direct path read and write temp.
    Fix: Raise pga_aggregate_target to where v$pga_target_advice expects no more extra bytes, if the host has the
        memory.
    Verify: direct path read temp and write temp at the same load; onepass and multipass executions.
    Source: Oracle Database Performance Tuning Guide, Tuning the Program Global Area.
    """
    found, impact = subject.get("pga_aggregate_target"), waited(subject, *TEMP)
    if found and impact and impact >= 0.05:
        yield subject.violation(
            phrase("pga_aggregate_target = {:bytes}: {:share} of the time goes to temp", found.number or 0, impact),
            "pga_aggregate_target",
            cost=phrase("{:share of database} waited for {}", impact, " and ".join(TEMP)),
            impact=impact,
        )


@rule("oracle")
def block_buffers_with_sga_target(subject: Subject) -> Iterator[Violation]:
    """db_block_buffers, of Oracle 8i, stands beside the settings that replaced it.

    Why: with sga_target or db_cache_size the instance does not start (ORA-00381, ORA-00824); alone it turns automatic
        memory off.
    Evidence: the settings.
    Fix: Take db_block_buffers out.
    Verify: The instance starts; v$sga_dynamic_components shows a buffer cache that is resized.
    Source: Oracle Database Reference, DB_BLOCK_BUFFERS.
    """
    found = subject.explicit("db_block_buffers")
    others = [name for name in ("sga_target", "memory_target", "db_cache_size") if subject.number(name)]
    if found and found.number and others:
        yield subject.violation(
            f"db_block_buffers with {others[0]}: the instance does not start",
            "db_block_buffers",
            others[0],
            cost="availability: no start (ORA-00381, ORA-00824)",
            severity=Severity.ERROR,
            changes=[subject.change("db_block_buffers", None, "restart")],
        )


def _is_elsewhere(subject: Subject) -> bool:
    """Whether a report says that it is of another system than Linux: page tables and huge pages are others there."""
    platform = subject.text("report.platform")
    return platform is not None and "linux" not in platform.lower()
