"""Rules on Solaris (/etc/system, lpfc.conf), on names (nsswitch.conf) and on Oracle's network."""

from collections.abc import Mapping
from typing import Any

import pytest

from doctord.lint import engine
from doctord.lint.rule import RULES
from doctord.lint.violation import Severity, Violation
from settings_datasets import HOST, dataset, violations

AT = {"host": HOST, "interval_s": 60.0}
WAITING = {"disk": [AT | {"device": "ssd3", "host_queue": 12.0}]}
IDLE = {"disk": [AT | {"device": "ssd3", "host_queue": 0.1}]}
MOVING = {"cpu": [AT | {"cpu": number, "migrations_per_s": 900.0} for number in range(4)]}
LISTENER = {
    "LISTENER.DESCRIPTION_LIST.DESCRIPTION.ADDRESS.HOST": "db1",
    "LISTENER.DESCRIPTION_LIST.DESCRIPTION.ADDRESS.PORT": "1521",
}
SECOND = {"LISTENER2.DESCRIPTION_LIST.DESCRIPTION.ADDRESS.PORT": "1522"}
CLIENT = {
    "SHOP.DESCRIPTION.ADDRESS_LIST.ADDRESS.HOST": "db1",
    "SHOP.DESCRIPTION.ADDRESS_LIST.ADDRESS.PORT": "1521",
    "SHOP.DESCRIPTION.ADDRESS_LIST.ADDRESS[2].HOST": "db2",
    "SHOP.DESCRIPTION.ADDRESS_LIST.ADDRESS[2].PORT": "1521",
    "SHOP.DESCRIPTION.CONNECT_DATA.SERVICE_NAME": "shop",
}


def segmap(reclaimed: float) -> dict[str, Any]:
    about = AT | {"component": "solaris", "entity": "unix:0:segmap"}
    figures = {"kstat.getmap": 1000.0, "kstat.get_reclaim": reclaimed}
    return {"statistic": [about | {"name": name, "value": value} for name, value in figures.items()]}


def logons(per_s: float) -> dict[str, Any]:
    return {"statistic": [AT | {"db": "oracle:X", "name": "v$sysstat.logons cumulative", "value": per_s}]}


FAULTS: list[tuple[str, dict[str, object], dict[str, Any], Severity]] = [
    ("solaris/max_throttle_low", {"sd:sd_max_throttle": 8}, {}, Severity.NOTE),
    ("solaris/max_throttle_low", {"ssd:ssd_max_throttle": 8}, IDLE, Severity.NOTE),
    ("solaris/max_throttle_low", {"sd:sd_max_throttle": 8}, WAITING, Severity.WARNING),
    ("solaris/segmap_small", {"segmap_percent": 12}, segmap(300.0), Severity.WARNING),
    ("solaris/tsb_small", {"enable_tsb_rss_sizing": 0}, {}, Severity.NOTE),
    ("solaris/tsb_small", {"tsb_rss_factor": 700}, {}, Severity.NOTE),
    ("solaris/tsb_small", {"tsb_alloc_hiwater_factor": 64},
     {"translation": [AT | {"cpu": 0, "mode": "user", "page_bytes": 8192, "dtsb_pct": 25.0}]}, Severity.WARNING),
    ("solaris/threads_move_often", {"maxphys": 1048576}, MOVING, Severity.NOTE),
    ("lpfc/queue_depth_low", {"lun-queue-depth": 16}, {}, Severity.NOTE),
    ("lpfc/queue_depth_low", {"tgt-queue-depth": 32}, WAITING, Severity.WARNING),
    ("vxvm/vxiod_few", {"vxiod": 2}, MOVING, Severity.NOTE),
    ("vxvm/vxiod_few", {"vxiod": 0}, MOVING, Severity.WARNING),
    ("nsswitch/slow_source_before_files", {"hosts": "cluster files dns"}, {}, Severity.WARNING),
    ("nsswitch/slow_source_before_files", {"passwd": "nis [NOTFOUND=return] files"}, {}, Severity.NOTE),
    ("oracle_net/one_listener_for_all", LISTENER, {}, Severity.NOTE),
    ("oracle_net/one_listener_for_all", LISTENER, logons(5.0), Severity.WARNING),
    ("oracle_net/addresses_not_balanced", CLIENT, {}, Severity.NOTE),
]  # fmt: skip
HEALTHY: list[tuple[str, dict[str, object], dict[str, Any]]] = [
    ("solaris", {"sd:sd_max_throttle": 30, "segmap_percent": 12, "default_tsb_size": 3}, WAITING),
    ("solaris", {"segmap_percent": 12}, segmap(950.0)),
    ("solaris", {"enable_tsb_rss_sizing": 0, "default_tsb_size": 7}, {}),
    ("solaris", {"rechoose_interval": 150}, MOVING),
    ("lpfc", {"lun-queue-depth": 30, "tgt-queue-depth": 0}, WAITING),
    ("vxvm", {"vxiod": 4}, MOVING),
    ("vxvm", {"vxiod": 2}, {}),
    ("nsswitch", {"hosts": "files cluster dns", "passwd": "sss files", "netgroup": "nis"}, {}),
    ("oracle_net", LISTENER | SECOND, {}),
    ("oracle_net", LISTENER, logons(0.1)),
    ("oracle_net", CLIENT | {"SHOP.DESCRIPTION.LOAD_BALANCE": "on"}, {}),
]


def found(component: str, settings: Mapping[str, object], tables: dict[str, Any]) -> dict[str, Violation]:
    return violations(dataset(component, dict(settings), **tables))


@pytest.mark.parametrize(("rule", "settings", "tables", "severity"), FAULTS)
def test_a_fault_is_named_and_nothing_else(
    rule: str, settings: dict[str, object], tables: dict[str, Any], severity: Severity
) -> None:
    said = found(rule.partition("/")[0], settings, tables)
    assert list(said) == [rule]
    assert (said[rule].severity, bool(said[rule].cost)) == (severity, True)


@pytest.mark.parametrize(("component", "settings", "tables"), HEALTHY)
def test_what_is_right_is_left_alone(component: str, settings: dict[str, object], tables: dict[str, Any]) -> None:
    assert found(component, settings, tables) == {}


def test_every_rule_has_a_row() -> None:
    own = {name for name in RULES if name.split("/")[0] in {"solaris", "lpfc", "vxvm", "nsswitch", "oracle_net"}}
    assert own == {rule for rule, *_ in FAULTS}


def test_as_many_threads_as_veritas_makes_itself() -> None:
    held = dataset("vxvm", {"vxiod": 16}, cpu=[AT | {"cpu": number, "idle_pct": 50.0} for number in range(24)])
    (change,) = engine.examine(held).violations[0].changes
    assert change.value == "48"


def test_files_go_first_in_the_change() -> None:
    held = dataset("nsswitch", {"hosts": "cluster nis files dns"})
    (change,) = engine.examine(held).violations[0].changes
    assert change.value == "files cluster nis dns"
