"""Memory of several nodes: processes that run far from their memory."""

from collections.abc import Iterator

from doctord.analyse.host.numa import HERE, Node, Placement, nodes, placements
from doctord.analyse.host.scheduling import scheduling
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase

# What a process has in the caches of its CPU does not matter; a buffer pool and a sort are larger.
MEMORY_BYTES = 64 * 2**20


@cause()
def memory_on_other_node(case: Case) -> Iterator[Claim]:
    """Database processes run on one NUMA node, and their memory lies on another.

    Looks like: nearly all pages that a process touches are on nodes other than the one it runs on; no wait shows it,
        since waiting for memory counts as time on CPU.
    Hurts because: each access that the CPU's caches do not hold takes longer, by the distance of the nodes, and all
        share the links between them.
    Speaks for it: the share of pages elsewhere, above what spreading them over all nodes gives; the distance of the
        nodes; CPUs that it is bound to; the policy of its memory.
    Speaks against it: memory that is interleaved over the nodes; a process that may run on every node: the scheduler
        may have moved it there a moment ago. Nothing is said of processes with little memory.
    Remedy: Bind CPUs and memory to the same nodes, or neither: NUMAPolicy= and NUMAMask= beside AllowedCPUs= of the
        unit, numactl --cpunodebind with --membind or --preferred. A buffer pool that all nodes use is spread over them
        (numactl --interleave=all at the server's start; huge pages reserved on all nodes), one that fits into a node
        lies best beside the CPUs that use it.
        MySQL: innodb_numa_interleave = ON.
        Oracle: _enable_NUMA_support only as its support says.
    Verify: numastat -p PID shows most of its memory on the node of its CPUs, and the same work takes less CPU time.
    Source: Kernel documentation, "NUMA Memory Policy" and "What is NUMA?"; numa(7), numa_maps; ACPI specification,
        System Locality Information Table (distances).
    """
    host = nodes(case.dataset)
    # Half of what would lie on the own node if all were spread evenly.
    most = 1 - 0.5 / max(len(host), 1)
    placed = placements(case.dataset)
    far = [one for one in placed if one.local_bytes + one.remote_bytes >= MEMORY_BYTES and one.remote_share >= most]
    distance = max((distance for node in host for distance in node.distances), default=HERE)
    if len(host) < 2 or not far or distance <= HERE:
        return
    worst = far[0]
    lost = case.time.share("CPU") * _part_elsewhere(case, placed, far) * (1 - HERE / distance)
    if not case.worth_saying(lost):
        return
    bound = _bound(case, worst, host)
    against = _policies(worst, "it was told to spread its pages", "interleave")
    yield Claim(
        phrase("{:share} of the memory that process {} uses is on another NUMA node", worst.remote_share,
               str(worst.pid)),
        impact=at_most(lost),
        confidence=0.85 if bound and not against else 0.6,
        for_=[*(_elsewhere(one, most) for one in far[:2]), _distance(distance), *bound,
              *_policies(worst, "it was told where to take memory from", "bind", "prefer")],
        against=[*against, *([] if bound else [_anywhere(worst)])],
    )  # fmt: skip


def _part_elsewhere(case: Case, placed: list[Placement], far: list[Placement]) -> float:
    """Of the CPU time of the processes that were looked at, the part (0 to 1) that works on memory far away, at most.

    Those far away alone count where their CPU time is not known.
    """
    used_s: dict[int, float] = dict(case.processes.select("pid", "cpu_s").drop_nulls().iter_rows())
    whole_s = sum(used_s.get(one.pid, 0.0) for one in placed)
    if not whole_s or any(one.pid not in used_s for one in far):
        return far[0].remote_share
    return sum(used_s[one.pid] * one.remote_share for one in far) / whole_s


def _elsewhere(one: Placement, most: float) -> Evidence:
    return Evidence(
        "statistic", f"name = 'numa_maps.remote_bytes' and entity like '{one.pid} %'",
        phrase("{:share} of {:bytes} are not on the node that process {} ran on", one.remote_share,
               one.local_bytes + one.remote_bytes, str(one.pid)),
        phrase("{:share}", most), "more than where memory is spread over all nodes", "at_least",
    )  # fmt: skip


def _distance(distance: int) -> Evidence:
    return Evidence("setting", "name like 'numa.node%.distance'", phrase("distance {:.0f}", float(distance)), "",
                    phrase("an access takes up to {:.1f} times as long as on the own node",
                           distance / HERE))  # fmt: skip


def _bound(case: Case, one: Placement, host: list[Node]) -> list[Evidence]:
    """That it may run on some nodes only, so that its place is no chance."""
    told = scheduling(case.dataset, one.pid)
    if told is None or not told.cpus or not any(node.cpus and told.cpus.isdisjoint(node.cpus) for node in host):
        return []
    where = f"component = 'process' and name like '{one.pid} %.cpus'"
    allowed = [str(node.number) for node in host if not told.cpus.isdisjoint(node.cpus)]
    return [
        Evidence("setting", where, phrase("process {} may run on node {} only", str(one.pid), ", ".join(allowed)), "",
                 "it cannot follow its memory")
    ]  # fmt: skip


def _policies(one: Placement, why: str, *kinds: str) -> list[Evidence]:
    """The policies of its memory of some kinds: bind, prefer, interleave (their first words in numa_maps)."""
    policies = (("numa_policy", one.policy), ("numa_policy_shared", one.shared_policy))
    return [
        Evidence("setting", f"component = 'process' and name like '{one.pid} %.{name}'",
                 phrase("memory policy {}", policy), "", why)
        for name, policy in policies
        if policy and any(kind in policy for kind in kinds)
    ]  # fmt: skip


def _anywhere(one: Placement) -> Evidence:
    return Evidence("setting", f"component = 'process' and name like '{one.pid} %.cpus'",
                    phrase("process {} is not known to be bound to a node", str(one.pid)), "",
                    "where it ran when it was looked at may be chance")  # fmt: skip
