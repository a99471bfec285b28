"""Metrics of postgres_exporter and mysqld_exporter under the names that the servers' own views have."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from doctord.dataset.catalogue import catalogue
from doctord.dataset.mysql_names import STATUS, is_gauge, rate_unit, shown
from doctord.read.prometheus.names import PG_ENTITY, PG_GAUGE_VIEWS, PG_GAUGES, PG_VIEWS

if TYPE_CHECKING:
    from doctord.read.prometheus.samples import Sample

MYSQL_STATUS, MYSQL_VARIABLES, PG_SETTINGS = "mysql_global_status_", "mysql_global_variables_", "pg_settings_"
LAST_PORT: Final = 65535
PORTS: Final = {"pg_settings_port": "postgresql", "mysql_global_variables_port": "mysql"}
SETTING_UNITS = {"_bytes": "B", "_seconds": "s", "_ratio": None}


class Named(NamedTuple):
    """A figure or a setting of a database server.

    Attributes:
        component: `postgresql` or `mysql`.
        name: The server's own name, of a figure with its view.
        counter: Whether it rises.
        unit: Of a counter that of its rate.
        setting: Whether it is a setting.
    """

    component: str
    name: str
    counter: bool = False
    unit: str | None = None
    setting: bool = False


@cache
def named(metric: str) -> Named | None:
    """What a metric is of; null when it is of neither server.

    >>> named("pg_stat_database_blks_hit_total").name, named("pg_stat_database_blks_hit").unit
    ('pg_stat_database.blks_hit', 'blocks_per_s')
    >>> named("mysql_global_status_threads_running").counter, named("mysql_global_status_questions").counter
    (False, True)
    """
    if metric.startswith(MYSQL_STATUS):
        name = metric.removeprefix(MYSQL_STATUS)
        rises = not is_gauge(name)
        return Named("mysql", STATUS + name, rises, rate_unit(name) if rises else None)
    for prefix, component in ((MYSQL_VARIABLES, "mysql"), (PG_SETTINGS, "postgresql")):
        if metric.startswith(prefix):
            name = metric.removeprefix(prefix)
            ending = next((ending for ending in SETTING_UNITS if name.endswith(ending)), "")
            plain = name.removesuffix(ending) if component == "postgresql" else name
            return Named(component, plain, unit=SETTING_UNITS.get(ending), setting=True)
    view = next((view for view in PG_VIEWS if metric.startswith(f"{view}_")), None)
    if view is None:
        return None
    column = metric.removeprefix(f"{view}_").removesuffix("_total")
    rises = view not in PG_GAUGE_VIEWS and not PG_GAUGES.match(column)
    return Named("postgresql", f"{view}.{column}", rises, _rate_unit(column) if rises else None)


def _rate_unit(column: str) -> str:
    if column.endswith(("_time", "_delay_ms")):
        return "ms_per_s"
    if column.endswith("_bytes"):
        return "bytes_per_s"
    return "blocks_per_s" if column.startswith(("blks_", "buffers_")) else "per_s"


def setting(named: Named, value: float) -> tuple[str, str, str | None]:
    """Name, value and unit of a setting as the server's own view has them, as far as a number tells them.

    >>> setting(Named("postgresql", "fsync", setting=True), 1.0)
    ('fsync', 'on', None)
    >>> setting(Named("postgresql", "shared_buffers", unit="B", setting=True), 134217728.0)
    ('shared_buffers', '134217728', 'B')
    """
    text = f"{value:.15g}"
    if named.component != "postgresql":
        return named.name, shown(named.name, text), named.unit
    name = _with_dots().get(named.name, named.name)
    known = catalogue("postgresql").get(name)
    return (name, "on" if value else "off", None) if known and known.kind == "bool" else (name, text, named.unit)


@cache
def _with_dots() -> dict[str, str]:
    """Settings of extensions, by how the exporter writes them."""
    return {name.replace(".", "_").replace("-", "_"): name for name in catalogue("postgresql") if "." in name}


def server(component: str, labels: Mapping[str, str], usual: str | None = None) -> str:
    """What the dataset calls the server: its kind, and its port where a label tells; else as usual.

    >>> server("postgresql", {"server": "db1:5433"}), server("mysql", {}), server("oracle", {"database": "ORCL"})
    ('postgresql:5433', 'mysql', 'oracle:ORCL')
    """
    if component == "oracle" and labels.get("database"):
        return f"oracle:{labels['database']}"
    port = labels.get("server", "").rpartition(":")[2]
    return f"{component}:{port}" if port.isdecimal() else usual or component


def servers_of(samples: "Iterable[Sample]") -> dict[str, str]:
    """What the dataset calls the servers of one target, by component, of those of which it has one."""
    ports = dict[str, set[str]]()
    for sample in samples:
        if (component := PORTS.get(sample.name)) and 0 < sample.value <= LAST_PORT:
            ports.setdefault(component, set()).add(f"{sample.value:.0f}")
    return {component: f"{component}:{told.pop()}" for component, told in ports.items() if len(told) == 1}


def entity(component: str, labels: Mapping[str, str]) -> str | None:
    """What the figure is about: database, schema and relation joined by dots; else the labels that remain."""
    if component == "postgresql":
        if labels.get("datid") == "0":
            return "shared"
        if known := [labels[label] for label in PG_ENTITY if labels.get(label)]:
            return ".".join([*known, *(labels[label] for label in ("mode", "state") if label in labels)])
    left_out = {"__name__", "instance", "job", "server"}
    return ",".join(value for label, value in sorted(labels.items()) if label not in left_out) or None
