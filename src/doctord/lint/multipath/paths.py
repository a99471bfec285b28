"""How device-mapper-multipath uses the paths, and what it does when they fail."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

SWITCH_OFTEN: Final = 100.0
SLOW_POLL_S: Final = 60.0
EVERYTHING: Final = (".*", "^.*", "*", "^.*$")


@rule("multipath")
def rr_min_io_high(subject: Subject) -> Iterator[Violation]:
    """A path is used for hundreds of requests before the next one has its turn.

    Why: at any moment one path works and the others wait: the paths are many, the bandwidth is that of one.
    Evidence: rr_min_io (rr_min_io_rq since 0.4.9).
    Fix: rr_min_io 1 (rr_min_io_rq 1).
    Verify: Requests of each path (iostat of the sd or dasd devices) grow alike within a second.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012 (switching only every 1000 requests).
    """
    for setting in _named(subject, "rr_min_io", "rr_min_io_rq"):
        if setting.number is not None and setting.number >= SWITCH_OFTEN:
            yield subject.violation(
                f"{setting.name} = {setting.value}: the path changes every {setting.value} requests",
                settings=[setting],
                cost=f"{setting.value} requests in a row go to one path while the others are idle",
                severity=Severity.WARNING,
                changes=[subject.change(setting.name, "1", "reload")],
            )


@rule("multipath")
def one_path_only(subject: Subject) -> Iterator[Violation]:
    """Each path is a group of its own: one works, the others wait for its failure.

    Why: the bandwidth and the queue of one path, however many there are.
    Evidence: path_grouping_policy failover.
    Fix: multibus where all paths are equal, group_by_prio where the array prefers some (ALUA).
    Verify: multipath -ll shows one group with all equal paths; each has its requests (iostat).
    Source: J. Doelle and S. Langer, IBM 2012; multipath.conf(5), path_grouping_policy.
    """
    for setting in _named(subject, "path_grouping_policy"):
        if setting.value.strip('"') == "failover":
            yield subject.violation(
                f"{setting.name} = failover: one path works",
                settings=[setting],
                cost="all requests take one path: its bandwidth and its queue depth are all there is",
                severity=Severity.WARNING,
                changes=[subject.change(setting.name, "multibus", "reload")],
            )


@rule("multipath")
def priorities_ignored(subject: Subject) -> Iterator[Violation]:
    """The array tells which paths are better, and the grouping does not ask.

    Why: with multibus half of the requests go to the controller that has to hand them to the other.
    Evidence: prio alua (or another that tells) beside path_grouping_policy multibus.
    Fix: path_grouping_policy group_by_prio.
    Verify: multipath -ll shows groups by priority; latency of reads falls.
    Source: multipath.conf(5), prio, path_grouping_policy.
    """
    for section, held in _sections(subject).items():
        policy, prio = held.get("path_grouping_policy"), held.get("prio")
        if policy and prio and policy.value.strip('"') == "multibus" and prio.value.strip('"') not in ("const", "none"):
            yield subject.violation(
                f"{section}: multibus beside prio {prio.value}",
                settings=[policy, prio],
                cost="requests also take the paths that the array itself prefers less",
                severity=Severity.WARNING,
                changes=[subject.change(policy.name, "group_by_prio", "reload")],
            )


@rule("multipath")
def priorities_missing(subject: Subject) -> Iterator[Violation]:
    """Paths are grouped by a priority that is the same for all.

    Why: group_by_prio with prio const is multibus by another name.
    Evidence: both settings.
    Fix: prio alua (or that of the array), or path_grouping_policy multibus.
    Verify: multipath -ll shows the priorities.
    Source: multipath.conf(5).
    """
    for section, held in _sections(subject).items():
        policy, prio = held.get("path_grouping_policy"), held.get("prio")
        if policy and prio and policy.value.strip('"') == "group_by_prio" and prio.value.strip('"') == "const":
            yield subject.violation(
                f"{section}: group_by_prio beside prio const",
                settings=[policy, prio],
                cost="the better paths of the array are not preferred",
                severity=Severity.WARNING,
            )


@rule("multipath")
def queues_for_ever(subject: Subject) -> Iterator[Violation]:
    """When all paths are gone, requests wait for ever.

    Why: the database hangs in uninterruptible sleep instead of failing over; it cannot even be killed.
    Evidence: no_path_retry queue, features queue_if_no_path.
    Fix: no_path_retry fail, or a number of tries that the cluster's timeouts allow.
    Verify: multipathd show config; pull all paths of a test LUN.
    Source: multipath.conf(5), no_path_retry; Red Hat, Configuring device mapper multipath.
    """
    for setting in _named(subject, "no_path_retry", "features"):
        if setting.value.strip('"') == "queue" or "queue_if_no_path" in setting.value:
            beside = _sections(subject)[_section(setting)].get("no_path_retry")
            if setting.name.endswith("features") and beside is not None:
                continue
            yield subject.violation(
                f"{setting.name} = {setting.value}: requests wait for ever without a path",
                settings=[setting],
                cost="availability: sessions hang and cannot be killed until a path is back or the host is reset",
                severity=Severity.WARNING,
                changes=[subject.change(setting.name, "fail" if beside is setting else None, "reload")],
            )


@rule("multipath")
def features_overridden(subject: Subject) -> Iterator[Violation]:
    """queue_if_no_path in features is ignored: no_path_retry decides.

    Why: whoever changes features changes nothing.
    Evidence: both settings in one section.
    Fix: Take queue_if_no_path out of features.
    Verify: multipathd show config.
    Source: multipath.conf(5), features (superseded by no_path_retry).
    """
    for section, held in _sections(subject).items():
        features, retry = held.get("features"), held.get("no_path_retry")
        if features and retry and "queue_if_no_path" in features.value and retry.value.strip('"') != "queue":
            yield subject.violation(
                f"{section}: features wants to queue, no_path_retry {retry.value} decides",
                settings=[features, retry],
                cost=f"no_path_retry {retry.value} is in force, though the other is written",
                severity=Severity.WARNING,
            )


@rule("multipath")
def returns_by_hand(subject: Subject) -> Iterator[Violation]:
    """A path that is back is not used again before somebody says so.

    Why: after one short failure all requests stay on the worse group.
    Evidence: failback manual.
    Fix: failback immediate, or a number of seconds; followover in clusters.
    Verify: multipath -ll after a path came back.
    Source: multipath.conf(5), failback.
    """
    for setting in _named(subject, "failback"):
        if setting.value.strip('"') == "manual":
            yield subject.violation(
                f"{setting.name} = manual",
                settings=[setting],
                cost="after a failure the worse paths are used until somebody notices",
                severity=Severity.NOTE,
                changes=[subject.change(setting.name, "immediate", "reload")],
            )


@rule("multipath")
def polled_seldom(subject: Subject) -> Iterator[Violation]:
    """A path that is gone or back is noticed only after a minute or more.

    Why: paths that are well are asked at four times the interval at most: requests wait for the one that is not.
    Evidence: polling_interval, max_polling_interval.
    Fix: polling_interval 5, max_polling_interval 20, the defaults.
    Verify: Time from pulling a path to `failed` in multipathd show paths.
    Source: multipath.conf(5), polling_interval.
    """
    for setting in _named(subject, "polling_interval", "max_polling_interval"):
        factor = 4 if setting.name.endswith("defaults.polling_interval") else 1
        if setting.number is not None and setting.number * factor > SLOW_POLL_S:
            yield subject.violation(
                f"{setting.name} = {setting.value}",
                settings=[setting],
                cost=phrase("up to {:.0f} s until a change of a path is noticed", setting.number * factor),
                severity=Severity.WARNING,
                changes=[subject.change(setting.name, None, "reload")],
            )


@rule("multipath")
def gives_up_before_it_fails_over(subject: Subject) -> Iterator[Violation]:
    """fast_io_fail_tmo is not below dev_loss_tmo.

    Why: the device is removed before its requests could be failed to another path; multipathd refuses or shortens it.
    Evidence: both settings.
    Fix: fast_io_fail_tmo 5, dev_loss_tmo well above.
    Verify: /sys/class/fc_remote_ports/*/fast_io_fail_tmo.
    Source: multipath.conf(5), fast_io_fail_tmo.
    """
    for section, held in _sections(subject).items():
        fast, loss = held.get("fast_io_fail_tmo"), held.get("dev_loss_tmo")
        if fast and loss and fast.number is not None and loss.number is not None and fast.number >= loss.number:
            yield subject.violation(
                f"{section}: fast_io_fail_tmo {fast.value} is not below dev_loss_tmo {loss.value}",
                settings=[fast, loss],
                cost=f"requests of a lost path hang for {loss.value} s instead of taking another",
                severity=Severity.WARNING,
            )


@rule("multipath")
def everything_blacklisted(subject: Subject) -> Iterator[Violation]:
    """All devices are left out, and none is let in again.

    Why: no device has more than one path.
    Evidence: a blacklist of everything without blacklist_exceptions.
    Fix: Blacklist the local disks only, or add blacklist_exceptions.
    Verify: multipath -ll shows the LUNs.
    Source: multipath.conf(5), blacklist.
    """
    excepted = any(one.name.startswith("blacklist_exceptions.") for one in subject.rows)
    for setting in subject.rows:
        patterns = [one.strip().strip('"') for one in setting.value.split(",")]
        if setting.name in ("blacklist.devnode", "blacklist.wwid") and not excepted and set(patterns) & set(EVERYTHING):
            yield subject.violation(
                f"{setting.name} = {setting.value}: everything is left out",
                settings=[setting],
                cost="availability: every device hangs on one path",
                severity=Severity.WARNING,
            )


@rule("multipath")
def alias_used_twice(subject: Subject) -> Iterator[Violation]:
    """Two devices have the same alias, or one device two entries.

    Why: which of them gets the name depends on the order of discovery: a database may open another one's disk.
    Evidence: the entries.
    Fix: One alias for each WWID.
    Verify: multipath -ll.
    Source: multipath.conf(5), multipaths, alias.
    """
    by_alias: dict[str, list[Setting]] = {}
    for setting in subject.rows:
        if found := re.fullmatch(r"multipaths\.(.+)\.wwid", setting.name):
            by_alias.setdefault(found[1], []).append(setting)
    for alias, held in by_alias.items():
        if len({one.value for one in held}) > 1:
            yield subject.violation(
                f"alias {alias} is given to {len(held)} devices",
                settings=held,
                cost="data: which disk has the name changes with the order of discovery",
                severity=Severity.ERROR,
            )


def _named(subject: Subject, *keywords: str) -> list[Setting]:
    """The settings of these keywords in any section: the last of each counts."""
    last = {one.name: one for one in subject.rows if one.name.rpartition(".")[2] in keywords}
    return list(last.values())


def _section(setting: Setting) -> str:
    return setting.name.rpartition(".")[0]


def _sections(subject: Subject) -> dict[str, dict[str, Setting]]:
    """The settings by section and keyword."""
    found: dict[str, dict[str, Setting]] = {}
    for setting in subject.rows:
        found.setdefault(_section(setting), {})[setting.name.rpartition(".")[2]] = setting
    return found
