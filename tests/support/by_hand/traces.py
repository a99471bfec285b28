"""Documents of call traces for tests: a healthy server, and the casebook's listener, by hand after its figures.

    trace = healthy(births=[births(mean_s=0.02)])

Each part has defaults; what a test names replaces them.
"""

from typing import Any, cast

from doctord.dataset.calltrace import Trace

Part = dict[str, Any]


def call(name: str, kind: str = "other", **figures: Any) -> Part:
    base = {"call": name, "class": kind, "count": 10, "errors": 0, "seconds": 0.001, "cpu_s": None, "share": None}
    times = {"mean_s": None, "p50_s": None, "p95_s": None, "p99_s": None, "max_s": None}
    return base | times | figures


def step(name: str, arguments: str = "", nth: int = 1, seconds: float = 0.0001, count: float = 1.0) -> Part:
    return {"call": name, "arguments": arguments, "nth": nth, "count": count, "seconds": seconds}


def wait(name: str, arguments: str = "", nth: int = 1, seconds: float = 0.1, **more: Any) -> Part:
    return step(name, arguments, nth, seconds) | {"share": None, "on": None} | more


def path_part(depth: int, role: str, name: str, seconds: float, share: float, **more: Any) -> Part:
    base = {"depth": depth, "role": role, "pid": 100 + depth, "call": name, "arguments": "", "count": 1.0}
    return base | {"seconds": seconds, "cpu_s": None, "share": share, "why": None} | more


def repetition(name: str = "getpid", **figures: Any) -> Part:
    base = {"call": name, "arguments": "", "sequence": None, "pid": 100, "role": "server", "calls": 100}
    base |= {"same_arguments": 100, "seconds": 0.1, "cpu_s": None, "on_critical_path": False, "calls_per_pass": None}
    return base | {"seconds_per_pass": None, "share_of_pass": None, "errors": 0, "error": None} | figures


def process(pid: int, role: str, calls: int = 10, **figures: Any) -> Part:
    base = {"pid": pid, "thread": None, "parent": None, "role": role, "program": None, "began_s": 0.0, "ended_s": None}
    base |= {"end": None, "calls": calls, "errors": 0, "in_calls_s": 0.1, "outside_calls_s": None, "unseen_s": 0.0}
    return base | {"cpu_s": None, "signals": 0} | figures


def births(**figures: Any) -> Part:
    base = {"parent": 100, "role": "server", "call": "clone", "count": 40, "mean_s": 0.0004, "p50_s": 0.0004}
    return base | {"max_s": 0.0009, "cpu_s": None, "mapped_bytes": None} | figures


def target(name: str, **figures: Any) -> Part:
    counts = ("reads", "read_bytes", "writes", "written_bytes", "sequential_reads", "random_reads", "seeks")
    more = ("seeks_then_read", "syncs")
    return {"target": name, "calls": 100, "seconds": 0.001} | dict.fromkeys((*counts, *more), 0) | figures


def growth(**figures: Any) -> Part:
    base = {"pid": 100, "role": "server", "call": "mmap", "reserved_bytes": 0, "extents": [], "chunks": []}
    base |= {"mapped_bytes": 0, "calls": 0, "calls_per_mb": None, "page_size_requested": False, "requests": 0}
    return base | {"advice": None} | figures


def loop(**figures: Any) -> Part:
    """The loop of a server that accepts forty times a second and waits for clients most of the time."""
    base: Part = {
        "pid": 100, "role": "server", "program": "server", "anchor": {"call": "epoll_wait", "arguments": "5"},
        "passes": 400, "complete_passes": 400, "seconds_per_pass": 0.001, "wakeups": 0, "p50_s": 0.001, "p95_s": 0.0016,
        "min_s": 0.0008, "max_s": 0.003,
        "distribution": [{"le_s": 0.001, "passes": 210}, {"le_s": 0.002, "passes": 190}],
        "max_passes_per_second": 950.0, "at_least": False, "own_cpu_s": None, "own_cpu_share": None,
        "outside_calls_s": 0.0003, "idle_s": 9.6, "idle_share": 0.96,
        "waits": [wait("clone", seconds=0.0004, share=0.4, on="child")],
        "steps": [step("accept4", "6"), step("clone", "", seconds=0.0004), step("close", "9")],
        "path": [
            path_part(0, "server", "clone", 0.0004, 0.4), path_part(0, "server", "(no call running)", 0.0003, 0.3),
        ],
    }  # fmt: skip
    figures.setdefault("mean_s", figures.get("seconds_per_pass", base["seconds_per_pass"]))
    return base | figures


def healthy(about: Part | None = None, totals: Part | None = None, **parts: Any) -> Trace:
    """The document of ten seconds of `strace -f -ttt -T` of a healthy server, but for what is given."""
    base: Part = {
        "trace": {
            "files": ["server.strace"], "tool": "strace", "kind": "calls", "clock": "epoch",
            "began": "2026-11-20T12:00:00Z", "seconds": 10.0, "bytes": 90_000, "lines": 1300, "calls": 1240,
            "processes": 41, "elapsed_is": "measured", "has_cpu": False, "calls_without_detail": 0, "gaps": 0,
            "gap_seconds": 0.0, "backwards": 0, "skipped": [], "damage": [],
        } | (about or {}),
        "totals": {
            "elapsed_s": None, "in_calls_s": 9.9, "outside_calls_s": 0.4, "cpu_s": None, "user_s": None, "errors": 3,
        } | (totals or {}),
        "calls": [
            call("epoll_wait", "poll", count=401, seconds=9.6), call("clone", "fork", count=400, seconds=0.16),
            call("accept4", "accept", count=400, seconds=0.04), call("close", "close", count=400, seconds=0.02),
            call("openat", "open", count=30, errors=3, seconds=0.001), call("read", "read", count=60, seconds=0.002),
        ],
        "errors": [{"call": "openat", "error": "ENOENT", "count": 3, "seconds": 0.0001}], "processes": [],
        "targets": [target("/etc/passwd", reads=2, read_bytes=2000)], "sizes": {"read": [], "write": []},
        "loop": loop(), "loops": [], "repetitions": [repetition("close", calls=400, seconds=0.02)],
        "memory": [growth(mapped_bytes=2_000_000, calls=12, calls_per_mb=6.0)], "births": [births()],
        "timeline": None, "folded": {}, "stacks": [], "histograms": [], "live": None,
    }  # fmt: skip
    return cast(Trace, base | parts)


def without_loop(**parts: Any) -> Trace:
    """One second of a process that is no server."""
    return healthy(
        about={"seconds": 1.0, "processes": 1, "calls": 0, "lines": 0},
        totals={"in_calls_s": 0.6, "outside_calls_s": 0.4},
        **{"calls": [], "errors": [], "targets": [], "loop": None, "repetitions": [], "memory": [], "births": []}
        | parts,
    )


def _listener(file: str, child: int, calls: list[Part], waited: list[float], **parts: Any) -> Trace:
    """A trace of the listener; `waited` is the seconds of its waits in order, of its third read, and of a pass."""
    fork, reap, first, second, third, a_pass = waited
    reap_arguments = f"P_PID, {child}, 0xFFFFFFFF7FFF6D10, WEXITED|WTRAPPED"
    pipe = '16, "...", 64'
    on_child = [
        step("fork1", seconds=fork), step("waitid", reap_arguments, 1, reap), step("read", pipe, 1, first),
        step("read", pipe, 2, second),
    ]  # fmt: skip
    waits = [one | {"share": one["seconds"] / a_pass, "on": "child"} for one in on_child]
    waits.sort(key=lambda one: -one["seconds"])
    steps = [step("accept", "12, 0xFFFFFFFF7FFF889C", seconds=0.0021), *on_child, step("read", pipe, 3, third)]
    service = loop(
        pid=15697, role="15697", program=None,
        anchor={"call": "pollsys", "arguments": "0x10041CDA8, 2, 0x00000000, 0x00000000"}, passes=1, complete_passes=1,
        seconds_per_pass=a_pass, p50_s=a_pass, p95_s=a_pass, min_s=a_pass, max_s=a_pass, mean_s=a_pass,
        distribution=[{"le_s": 0.5, "passes": 1}], max_passes_per_second=1 / a_pass, own_cpu_s=0.032,
        own_cpu_share=0.032 / a_pass, outside_calls_s=0.0, waits=waits, steps=steps, path=[],
    ) | parts.pop("loop", {})  # fmt: skip
    return healthy(
        about={
            "files": [file], "tool": "truss", "clock": "since start", "began": None, "processes": 1,
            "lines": 60, "elapsed_is": "since the last event", "has_cpu": True, "bytes": 9820,
        },
        totals={"in_calls_s": a_pass, "outside_calls_s": 0.0, "errors": 3, "cpu_s": 0.032},
        **{"calls": calls, "loop": service, "repetitions": [], "memory": [], "targets": [], "errors": []} | parts,
    )  # fmt: skip


def listener_before() -> Trace:
    """A pass of 0.30 s: four waits on the child, in which a grandchild calls cladm() 75 times."""
    calls = [
        call("pollsys", "poll", count=3, seconds=1.89), call("read", "read", count=4, seconds=0.1995),
        call("cladm", count=75, seconds=0.117, cpu_s=0.114, mean_s=0.00156, p50_s=0.0017, p95_s=0.0018, max_s=0.0018),
        call("fork1", "fork", count=2, seconds=0.0547), call("waitid", "wait", count=1, seconds=0.0542),
        call("accept", "accept", count=1, seconds=0.0021),
    ]  # fmt: skip
    waited = [0.0300, 0.0542, 0.0666, 0.1298, 0.0020, 0.2999]
    path = [
        path_part(
            2, "grandchild (oracle)", "cladm", 0.117, 0.390, count=75.0, cpu_s=0.114, arguments="CL_CONFIG, 17",
            why="while the 15697 reads what the grandchild writes",
        ),
        path_part(2, "grandchild (oracle)", "(no call running)", 0.090, 0.300),
        path_part(0, "15697", "fork1", 0.0300, 0.100, cpu_s=0.0299, why="the cost of copying the process"),
        path_part(1, "child", "fork1", 0.0247, 0.082, cpu_s=0.0246),
        path_part(2, "grandchild (oracle)", "execve", 0.0139, 0.046, cpu_s=0.0137, arguments='"/bin/oracle"'),
    ]  # fmt: skip
    return _listener(
        "before.truss", 8195, calls, waited, loop={"path": path, "idle_s": 1.89, "idle_share": 0.86},
        repetitions=[
            repetition(
                "cladm", arguments="CL_CONFIG, 17", pid=8197, role="grandchild (oracle)", calls=75, same_arguments=71,
                seconds=0.117, cpu_s=0.114, on_critical_path=True, calls_per_pass=75.0, seconds_per_pass=0.117,
                share_of_pass=0.39,
            )
        ],
        processes=[
            process(15697, "15697", 38, in_calls_s=2.19, cpu_s=0.032), process(8195, "child", 7, end="exited with 0"),
            process(8197, "grandchild (oracle)", 79, in_calls_s=0.131, cpu_s=0.127),
        ],
        births=[
            births(parent=15697, role="15697", call="fork1", count=1, mean_s=0.03, max_s=0.03, cpu_s=0.0299),
            births(parent=8195, role="child", call="fork1", count=1, mean_s=0.0247, max_s=0.0247),
        ],
        timeline={"pass": 1, "began_s": 1.5426, "seconds": 0.2999, "bars_left_out": 0, "rows": [
            {"pid": 15697, "role": "15697", "depth": 0, "bars": [
                {"start_s": 0.0072, "seconds": 0.0300, "call": "fork1", "arguments": "", "on_path": True},
                {"start_s": 0.0427, "seconds": 0.0542, "call": "waitid", "arguments": "P_PID, 8195", "on_path": False},
            ]},
            {"pid": 8197, "role": "grandchild (oracle)", "depth": 2, "bars": [
                {"start_s": 0.1738, "seconds": 0.0011, "call": "cladm", "arguments": "CL_CONFIG, 17", "on_path": True},
                {"start_s": 0.1750, "seconds": 0.0017, "call": "cladm", "arguments": "<CL & 17>", "on_path": True},
            ]},
        ]},
        folded={"15697;fork1": 30000, "15697;child;grandchild (oracle);cladm": 117000},
    )  # fmt: skip


def listener_after() -> Trace:
    """The same server without the repeated call; only its own process was traced."""
    calls = [
        call("read", "read", count=4, seconds=0.0959), call("waitid", "wait", count=1, seconds=0.0547),
        call("fork1", "fork", count=1, seconds=0.0358), call("accept", "accept", count=1, seconds=0.0020),
    ]  # fmt: skip
    waited = [0.0358, 0.0547, 0.0877, 0.0050, 0.0019, 0.2012]
    return _listener(
        "after.truss", 1214, calls, waited,
        processes=[process(15697, "15697", 34), process(1214, "child", 0)],
        births=[births(parent=15697, role="15697", call="fork1", count=1, mean_s=0.0358, p50_s=0.0358, max_s=0.0358)],
        loop={"idle_s": None, "idle_share": None, "path": [path_part(0, "15697", "fork1", 0.0358, 0.178)]},
    )  # fmt: skip
