"""What steers Oracle's optimizer and its parallel work for everybody at once."""

from collections.abc import Iterator

from doctord.dataset.catalogue import catalogue, version_of
from doctord.diagnose.phrase import listed, phrase
from doctord.lint.oracle.figures import waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

GLOBAL = ("optimizer_index_cost_adj", "optimizer_index_caching", "optimizer_mode", "optimizer_dynamic_sampling",
          "optimizer_max_permutations")  # fmt: skip
DEGREE_PER_CPU = 2
PARSING = ("latch: shared pool", "library cache lock", "cursor: pin S wait on X", "latch: library cache")


@rule("oracle")
def optimizer_settings_global(subject: Subject) -> Iterator[Violation]:
    """optimizer_* settings bend every plan of the instance.

    Why: what helped one statement turns full scans into index reads, or the reverse, everywhere.
    Evidence: settings that differ from their default.
    Fix: Take them out; gather statistics; give the one statement a SQL plan baseline, or a session its own setting.
    Verify: Elapsed time of the top statements by plan, before and after, on the same data.
    Source: J. Doelle and S. Langer, IBM 2012 (the optimizer forced to indexes: full scans were 4 times faster).
    """
    for name in GLOBAL:
        found, known = subject.explicit(name), catalogue("oracle").get(name)
        if found is None or (known and found.value.strip("'\"").lower() == (known.default or "")):
            continue
        yield subject.violation(
            f"{name} = {found.value}, for every statement",
            name,
            cost=f"{CANNOT_JUDGE} which plans it bends: compare the top statements without it",
            changes=[subject.change(name, None, "now")],
        )


@rule("oracle")
def optimizer_of_an_older_version(subject: Subject) -> Iterator[Violation]:
    """optimizer_features_enable holds the optimizer back at an older version.

    Why: every improvement and every correction since then is off.
    Evidence: the setting against the version.
    Fix: Take it out in a test with the top statements; hold single plans with SQL plan baselines.
    Verify: Elapsed time of the top statements by plan, before and after.
    Source: Oracle Database Upgrade Guide, SQL plan management; Database Reference, OPTIMIZER_FEATURES_ENABLE.
    """
    found, version = subject.explicit("optimizer_features_enable"), subject.version
    asked = version_of(found.value.strip("'\"")) if found else None
    if found and asked and version and asked[:2] < version[:2]:
        yield subject.violation(
            f"optimizer_features_enable = {found.value} on {'.'.join(map(str, version[:2]))}",
            "optimizer_features_enable",
            cost=f"{CANNOT_JUDGE} which plans would change: test the top statements without it",
            changes=[subject.change("optimizer_features_enable", None, "now")],
        )


@rule("oracle")
def hidden_parameters(subject: Subject) -> Iterator[Violation]:
    """Parameters with an underscore are set.

    Why: they are for Oracle's support, each for one fault of one version; after an upgrade nobody knows what they do.
    Evidence: the names.
    Fix: Find the note or service request that asked for each; take out what has none, or is fixed in this version.
    Verify: The same load without them, on a test system.
    Source: J. Doelle and S. Langer, IBM 2012; Oracle Database Upgrade Guide.
    """
    held = [one for one in dict.fromkeys(subject.rows) if one.name.startswith("_") and not one.name.startswith("__")]
    if held:
        names = ", ".join(dict.fromkeys(one.name for one in held))
        yield subject.violation(
            f"hidden parameters: {names}",
            settings=held,
            cost=f"{CANNOT_JUDGE} what each does to this workload; support asks to take them out first",
        )


@rule("oracle")
def events_set(subject: Subject) -> Iterator[Violation]:
    """Diagnostic events are set for the whole instance.

    Why: each was for one fault; some write trace files for every session, some change behaviour.
    Evidence: the setting.
    Fix: Take out what no open service request asks for.
    Verify: Growth of the trace directory.
    Source: Oracle Database Reference, EVENT (only under supervision of support).
    """
    found = subject.explicit("event")
    if found and found.value:
        words = f"{CANNOT_JUDGE} what it writes: look at the trace directory's growth"
        yield subject.violation(f"event = {found.value}", "event", cost=words)


@rule("oracle")
def sql_trace_on(subject: Subject) -> Iterator[Violation]:
    """Every session writes a trace of all its statements.

    Why: each call is written to a file: time of the sessions, and file systems that fill.
    Evidence: sql_trace; timed_os_statistics.
    Fix: Set sql_trace=false; trace one session with dbms_monitor.
    Verify: The trace directory stops growing.
    Source: Oracle Database SQL Tuning Guide, Performing Application Tracing.
    """
    if subject.flag("sql_trace"):
        yield subject.violation(
            "sql_trace = true for the whole instance",
            "sql_trace",
            cost="a line in a trace file for every call of every session",
            severity=Severity.ERROR,
            changes=[subject.change("sql_trace", "false", "now")],
        )


@rule("oracle", since=(10, 1))
def statistics_level_unfit(subject: Subject) -> Iterator[Violation]:
    """statistics_level is basic (nothing can be judged later) or all (every row source is timed).

    Why: basic turns AWR, the advisors and automatic memory off; all times every row source of every statement.
    Evidence: statistics_level, timed_statistics.
    Fix: Set statistics_level=typical.
    Verify: AWR snapshots are there; CPU for each execution falls (from all).
    Source: Oracle Database Reference, STATISTICS_LEVEL.
    """
    level = (subject.text("statistics_level") or "").strip("'\"").lower()
    if level == "basic" or subject.flag("timed_statistics") is False:
        cost = "no wait times, no AWR, no advisors: the next slow day cannot be explained"
    elif level == "all":
        cost = "every row source of every execution is timed, mostly some percent of CPU"
    else:
        return
    yield subject.violation(
        f"statistics_level = {level}" if level in ("basic", "all") else "timed_statistics is off",
        "statistics_level",
        "timed_statistics",
        cost=cost,
        severity=Severity.WARNING,
        changes=[subject.change("statistics_level", "typical", "now")],
    )


@rule("oracle")
def cursor_sharing_not_exact(subject: Subject) -> Iterator[Violation]:
    """cursor_sharing takes every constant out of every statement.

    Why: one plan for all values of skewed columns; histograms and function-based indexes are lost. similar is gone
        since 12c and made thousands of child cursors before.
    Evidence: the setting; time waited for parsing.
    Fix: Bind variables in the application that needs it; exact for the instance.
    Verify: Hard parses per second, and elapsed time of the top statements, before and after.
    Source: Oracle Database SQL Tuning Guide, Improving Real-World Performance Through Cursor Sharing.
    """
    value = (subject.text("cursor_sharing") or "exact").strip("'\"").lower()
    if value != "exact":
        gone = value == "similar" and (subject.version or (0,)) >= (12,)
        yield subject.violation(
            f"cursor_sharing = {value}",
            "cursor_sharing",
            cost="there is no such value in this version"
            if gone
            else f"{CANNOT_JUDGE}: hard parses per second, and child cursors of the top statements",
            severity=Severity.WARNING if gone or value == "similar" else Severity.NOTE,
            impact=waited(subject, *PARSING),
        )


@rule("oracle")
def parallel_degree_above_cpus(subject: Subject) -> Iterator[Violation]:
    """The parallel degree is above twice the CPUs.

    Why: the processes queue for the CPUs, each takes memory, and all others wait.
    Evidence: parallel_threads_per_cpu and parallel_degree_limit against the CPUs.
    Fix: A degree of no more than the CPUs, or the CPUs and one; parallel_threads_per_cpu of 1 on threads, 2 at most.
    Verify: Elapsed time of parallel statements and the run queue, before and after.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012.
    """
    cpus = subject.machine.cpus or subject.number("cpu_count")
    threads = subject.explicit("parallel_threads_per_cpu")
    if threads and (threads.number or 0) > DEGREE_PER_CPU:
        yield subject.violation(
            f"parallel_threads_per_cpu = {threads.value}: the default degree is {threads.value} for each CPU",
            "parallel_threads_per_cpu",
            cost=listed(
                f"{threads.value} processes for each CPU",
                phrase("{:.0f} in all", threads.number * cpus) if cpus and threads.number else "",
            ),
            severity=Severity.WARNING,
            changes=[subject.change("parallel_threads_per_cpu", None, "now")],
        )
    limit = subject.explicit("parallel_degree_limit")
    if cpus and limit and (limit.number or 0) > DEGREE_PER_CPU * cpus:
        yield subject.violation(
            phrase("parallel_degree_limit = {} on {:.0f} CPUs", limit.value, cpus),
            "parallel_degree_limit",
            cost=phrase("{:.1f} processes for each CPU, in each of two sets", (limit.number or 0) / cpus),
            severity=Severity.WARNING,
            changes=[subject.change("parallel_degree_limit", None, "now")],
        )


@rule("oracle", since=(11, 2))
def parallel_degree_decided_by_server(subject: Subject) -> Iterator[Violation]:
    """The server decides which statements run in parallel, how wide, and which have to wait for it.

    Why: with parallel_degree_policy = auto or adaptive a statement whose estimate is above
        parallel_min_time_threshold gets a degree, also one that many users run; statements queue while the servers
        are all in use.
    Evidence: parallel_degree_policy; waits of queued statements (resmgr: pq queued, PX Queuing: statement queue).
    Fix: manual or limited, with degrees on tables and hints where a report needs them; or keep auto with
        parallel_degree_limit, and a resource plan that bounds each group.
    Verify: Parallel operations downgraded, statements queued and CPU at the busiest hour.
    Source: Oracle Database VLDB and Partitioning Guide, "Automatic Degree of Parallelism"; Oracle Database Reference,
        PARALLEL_DEGREE_POLICY.
    """
    policy = (subject.text("parallel_degree_policy") or "").strip("'\"").lower()
    if policy not in {"auto", "adaptive"}:
        return
    impact = waited(subject, "resmgr: pq queued", "resmgr:pq queued", "PX Queuing: statement queue")
    yield subject.violation(
        f"parallel_degree_policy = {policy}",
        "parallel_degree_policy",
        "parallel_degree_limit",
        cost=f"{CANNOT_JUDGE} whether statements queue: an AWR report"
        if impact is None
        else phrase("{:share of database} waited in the queue of parallel statements", impact),
        impact=impact,
        changes=[subject.change("parallel_degree_policy", "manual", "now")],
    )
