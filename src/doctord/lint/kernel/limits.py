"""What the kernel lets databases have: processes, semaphores, asynchronous requests, connections; and its clocks."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import listed, phrase
from doctord.lint.kernel.databases import databases, processes_of
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "pit")
SAVING = ("powersave", "ondemand", "conservative")
AIO_OF_ORACLE = 1 << 20


@rule("kernel")
def processes_short(subject: Subject) -> Iterator[Violation]:
    """The kernel allows fewer processes than the databases may start.

    Why: fork fails (Resource temporarily unavailable), for everybody on the host.
    Evidence: kernel.pid_max and kernel.threads-max against connections.
    Fix: Raise kernel.pid_max (to 4194304 on 64 bits) and kernel.threads-max.
    Verify: The number of tasks (ps -eLf) against both at peak.
    Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, pid_max, threads-max.
    """
    needed = sum(processes_of(server) or 0.0 for server in databases(subject))
    for name in ("kernel.pid_max", "kernel.threads-max"):
        limit = subject.number(name)
        if limit and needed >= limit:
            yield subject.violation(
                phrase("{} = {:.0f} for {:.0f} connections", name, limit, needed),
                name,
                cost=phrase("availability: no process beyond {:.0f}, and there are others on the host", limit),
                severity=Severity.ERROR,
            )


@rule("kernel")
def semaphores_short(subject: Subject) -> Iterator[Violation]:
    """There are fewer semaphores than Oracle's processes need.

    Why: the instance does not start (ORA-27154, ORA-27302).
    Evidence: the second number of kernel.sem (SEMMNS) against processes.
    Fix: kernel.sem = 250 32000 100 128, or more where processes need it.
    Verify: ipcs -ls; the instance starts.
    Source: Oracle Database Installation Guide for Linux, Minimum Parameter Settings.
    """
    told = (subject.text("kernel.sem") or "").split()
    needed = sum(processes_of(one) or 0.0 for one in databases(subject) if one.component == "oracle")
    if len(told) == 4 and told[1].isdigit() and needed and int(told[1]) < needed + 10:
        yield subject.violation(
            phrase("kernel.sem = {}: {} semaphores for {:.0f} processes", " ".join(told), told[1], needed),
            "kernel.sem",
            cost="availability: the instance does not start (ORA-27154)",
            severity=Severity.ERROR,
            changes=[subject.change("kernel.sem", "250 32000 100 128", "now")],
        )


@rule("kernel")
def asynchronous_requests_short(subject: Subject) -> Iterator[Violation]:
    """Asynchronous I/O of Oracle may run out of requests.

    Why: a process that cannot set up its requests falls back to synchronous I/O, or fails with ORA-27090.
    Evidence: fs.aio-max-nr, asynchronous I/O asked for.
    Fix: Set fs.aio-max-nr = 1048576, more where fs.aio-nr comes near.
    Verify: fs.aio-nr against fs.aio-max-nr at peak; no ORA-27090 in traces.
    Source: Oracle Database Installation Guide for Linux, Minimum Parameter Settings (1048576).
    """
    limit = subject.number("fs.aio-max-nr")
    wanted = [
        one
        for one in databases(subject)
        if one.component == "oracle"
        and (one.text("filesystemio_options") or "").strip("'").lower() in ("setall", "asynch")
    ]
    if limit and limit < AIO_OF_ORACLE and wanted:
        each = (phrase("{:.0f} processes of {}", processes_of(one) or 0, one.name) for one in wanted)
        yield subject.violation(
            phrase("fs.aio-max-nr = {:.0f}", limit),
            "fs.aio-max-nr",
            cost=phrase("{:.0f} requests for {}: ORA-27090 when they are gone", limit, listed(*each, by=" and ")),
            severity=Severity.WARNING,
            changes=[subject.change("fs.aio-max-nr", str(AIO_OF_ORACLE), "now")],
        )


@rule("kernel")
def accept_queue_overflows(subject: Subject) -> Iterator[Violation]:
    """Connections are dropped because the queue of those not yet accepted is full.

    Why: the client waits a second and more for its next try, and sees a slow log-on, or none.
    Evidence: listen overflows measured; net.core.somaxconn, which cuts every listener's backlog.
    Fix: Raise net.core.somaxconn and the listener's own backlog, and fix what accepts so slowly; a pool helps.
    Verify: Listen overflows (nstat TcpExtListenOverflows) at the same rate of connections.
    Source: Linux, Documentation/networking/ip-sysctl.rst; R. Milkowski, Oracle's listener performance, 2008.
    """
    lost = subject.case.mean("network", "listen_overflows_per_s")
    limit = subject.number("net.core.somaxconn")
    if lost and limit:
        figure = phrase("{:.2f} connections a second dropped", lost)
        yield subject.violation(
            phrase("net.core.somaxconn = {:.0f}, and {}", limit, figure),
            "net.core.somaxconn",
            cost=phrase("{}: each waits 1 s and more for its next try", figure),
            severity=Severity.WARNING,
            evidence=[
                Evidence(
                    "network",
                    "listen_overflows_per_s",
                    phrase("{:.2f per s}", lost),
                    "none",
                    "a full queue cannot be waited in",
                )
            ],
            changes=[subject.change("net.core.somaxconn", str(int(max(4096, 2 * limit))), "now")],
        )


@rule("kernel")
def connections_recycled(subject: Subject) -> Iterator[Violation]:
    """net.ipv4.tcp_tw_recycle drops connections of clients behind one address.

    Why: it compares time stamps of different hosts behind the same address; gone since Linux 4.12.
    Evidence: the setting.
    Fix: Set it to 0; net.ipv4.tcp_tw_reuse is harmless.
    Verify: PAWSPassive in nstat stops growing.
    Source: Linux 4.12, commit 4396e46187ca; tcp(7).
    """
    if subject.number("net.ipv4.tcp_tw_recycle"):
        yield subject.violation(
            "net.ipv4.tcp_tw_recycle = 1",
            "net.ipv4.tcp_tw_recycle",
            cost="availability: clients behind a router or a balancer are dropped at random",
            severity=Severity.ERROR,
            changes=[subject.change("net.ipv4.tcp_tw_recycle", "0", "now")],
        )


@rule("kernel")
def clock_slow(subject: Subject) -> Iterator[Violation]:
    """The clock is read through a device, not from the CPU.

    Why: databases read the clock at every wait and every row source: a microsecond each instead of 20 ns.
    Evidence: the clock source.
    Fix: tsc, kvm-clock or the hypervisor's own; find out in the kernel's log why tsc was refused.
    Verify: pg_test_timing, or a loop of clock_gettime: well below 100 ns.
    Source: PostgreSQL documentation, pg_test_timing; Linux, Documentation/timers/timekeeping.rst.
    """
    clock = subject.text("cpu.clocksource")
    if clock in SLOW_CLOCKS:
        yield subject.violation(
            f"clock source {clock}",
            "cpu.clocksource",
            cost="1 us for each reading of the clock instead of 0.02 us: some percent of CPU where waits are timed",
            severity=Severity.WARNING,
        )


@rule("kernel")
def governor_saves_power(subject: Subject) -> Iterator[Violation]:
    """The CPUs run slower than they could until they are busy for a while.

    Why: short requests are over before the clock rises.
    Evidence: the governor of the first CPU. (Under intel_pstate powersave is not slow: the CPU decides.)
    Fix: cpupower frequency-set --governor performance, or tuned's throughput-performance.
    Verify: Response time at low load, and MHz of the CPUs (turbostat).
    Source: Linux, Documentation/admin-guide/pm/cpufreq.rst.
    """
    governor = subject.text("cpu.governor")
    if governor in SAVING and databases(subject):
        yield subject.violation(
            f"CPU governor {governor}",
            "cpu.governor",
            cost=f"{CANNOT_JUDGE}: MHz of the CPUs at low load (turbostat), and which driver scales them",
        )


@rule("kernel")
def laptop_mode_on(subject: Subject) -> Iterator[Violation]:
    """The kernel gathers writes so that a disk may sleep.

    Why: a read makes the kernel write everything that is dirty, at once.
    Evidence: vm.laptop_mode.
    Fix: Set vm.laptop_mode = 0.
    Verify: Write latency.
    Source: Linux, Documentation/admin-guide/laptops/laptop-mode.rst.
    """
    if subject.number("vm.laptop_mode"):
        yield subject.violation(
            "vm.laptop_mode is on",
            "vm.laptop_mode",
            cost="all dirty pages are written whenever a disk has been read: bursts beside every read",
            severity=Severity.WARNING,
            changes=[subject.change("vm.laptop_mode", "0", "now")],
        )


@rule("limits")
def memlock_small(subject: Subject) -> Iterator[Violation]:
    """The user of a database may lock less memory than its shared memory takes.

    Why: Oracle and PostgreSQL then cannot have huge pages: small pages, or no start.
    Evidence: memlock (KiB) of the user against the shared memory.
    Fix: memlock for soft and hard above the shared memory, or unlimited.
    Verify: ulimit -l of the user; HugePages_Free falls when the server starts.
    Source: Oracle Database Installation Guide for Linux, HugePages; PostgreSQL documentation, 19.4.5 Linux Huge Pages.
    """
    machine, kernel = subject.machine, subject.other("kernel")
    pages = machine.memory("huge_pages_total") or (kernel.number("vm.nr_hugepages") if kernel else None)
    for server in subject.others if pages else ():
        shared = server.number("sga_target") if server.component == "oracle" else None
        for setting in _of_user(subject, server.component, "memlock"):
            if shared and setting.number is not None and setting.number < shared:
                yield subject.violation(
                    phrase("{} = {} kB for {:.0f} kB of shared memory", setting.name, setting.value, shared / 1024),
                    settings=[setting],
                    cost=phrase("{} gets no huge page, although {:.0f} are set aside", server.name, pages),
                    severity=Severity.WARNING,
                    changes=[subject.change(setting.name, str(int(shared // 1024) + 1), "log-on")],
                )


@rule("limits")
def open_files_short(subject: Subject) -> Iterator[Violation]:
    """The user of a database may open fewer files than Oracle asks for.

    Why: files cannot be opened (Too many open files) when tablespaces or connections grow.
    Evidence: nofile, soft and hard.
    Fix: nofile 1024 soft and 65536 hard for oracle, soft raised by the start script.
    Verify: ulimit -Hn of the user.
    Source: Oracle Database Installation Guide for Linux, Checking Resource Limits (1024 soft, 65536 hard).
    """
    for kind, least in (("soft", 1024), ("hard", 65536)):
        for setting in _of_user(subject, "oracle", "nofile"):
            if f".{kind}." in setting.name and setting.number is not None and setting.number < least:
                yield subject.violation(
                    f"{setting.name} = {setting.value}: below {least}",
                    settings=[setting],
                    cost=f"availability: Too many open files beyond {setting.value}",
                    severity=Severity.WARNING,
                    changes=[subject.change(setting.name, str(least), "log-on")],
                )


def _of_user(subject: Subject, component: str, item: str) -> list[Setting]:
    """The limits of the user whom a database runs as: the last one of each kind."""
    user = {"oracle": "oracle", "postgresql": "postgres", "mysql": "mysql"}.get(component)
    names = [f"{user}.{kind}.{item}" for kind in ("soft", "hard")]
    return [found for name in names if (found := subject.get(name))]
