"""Makes the pages of docs/reference that come from the code: tables, causes, commands, wait events.

`python docs/make_reference.py` writes them; a test fails when a page does not say what the code says.
"""

import inspect
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_group

from doctord import cli
from doctord.analyse.sizing import found
from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input
from doctord.analyse.sizing.questions import QUESTIONS
from doctord.dataset.common_statistics import COMMON
from doctord.dataset.tables import TABLES
from doctord.dataset.waits.advice import advice
from doctord.dataset.waits.events import wait_events
from doctord.dataset.waits.kernel import places
from doctord.dataset.waits.kinds import KINDS
from doctord.diagnose import engine
from doctord.diagnose.cause import CAUSES
from doctord.lint import engine as lint
from doctord.mcp.schemas import SCHEMAS
from doctord.mcp.tools import TOOLS
from doctord.read.format import formats
from doctord.read.oracle.awr import known_sections as sections
from doctord.read.prometheus import names as exported
from doctord.serve import openapi
from doctord.serve.api import ENDPOINTS

FOLDER = Path(__file__).parent / "reference"
MADE = "<!-- Made from the code by docs/make_reference.py: change it there. -->"


def tables() -> Iterator[str]:
    """The vocabulary: every table with its columns."""
    yield "# Tables\n\nEvery source, live or file, fills these. Columns that a source does not know are null.\n"
    for table in TABLES.values():
        yield f"\n## {table.name}\nA row is {table.row}.\n\n| column | type | meaning |\n|---|---|---|\n"
        for column in table.columns:
            yield f"| {column.name} | {column.type} | {column.doc} |\n"


def causes() -> Iterator[str]:
    """Every cause, by component, as its docstring has it."""
    assert engine.CAUSES is CAUSES  # importing the engine is what loads them
    yield "# Causes\n\nWhat `doctord checkup`, `doctord diagnose` and `doctord trace` look for, by component.\n"
    for component in sorted({cause.component for cause in CAUSES.values()}):
        yield f"\n## {component}\n"
        for cause in (cause for cause in CAUSES.values() if cause.component == component):
            yield f"\n### {cause.name}\n{cause.summary}\n\n"
            yield from (f"- **{heading}:** {text}\n" for heading, text in cause.sections.items())
            if cause.explains:
                yield f"- **Explains, when both are there:** {', '.join(cause.explains)}\n"
            if cause.waits:
                yield f"- **Its kinds of wait:** {', '.join(cause.waits)}\n"


def rules() -> Iterator[str]:
    """Every rule on settings, by component, as its docstring has it."""
    yield "# Rules\n\nWhat `doctord lint` looks for: [how to lint settings](../how-to/lint-settings.md).\n"
    for component in sorted({rule.component for rule in lint.RULES.values()}):
        held = sorted((rule for rule in lint.RULES.values() if rule.component == component), key=lambda rule: rule.name)
        yield f"\n## {component}\n{len(held)} rules.\n"
        for rule in held:
            yield f"\n### {rule.name}\n{rule.summary}\n\n"
            yield from (f"- **{heading}:** {text}\n" for heading, text in rule.sections.items())
            yield from (
                f"- **{word}:** {'.'.join(map(str, version))}\n"
                for word, version in (("Since", rule.since), ("Until", rule.until))
                if version
            )


def questions() -> Iterator[str]:
    """Every question of size: what it needs, what is assumed, what finds it."""
    yield "# Questions of size\n\nWhat `doctord size` answers: [how to size things](../how-to/size-things.md).\n"
    for question in QUESTIONS.values():
        yield f"\n## {question.name}\n{question.asks}\n\n{inspect.getdoc(question.work)}\n\n"
        yield "| option | figure | unit | what it is | else |\n|---|---|---|---|---|\n"
        for one in question.inputs:
            yield f"| `--{one.option}` | {one.name} | {one.unit.replace(' ', ':')} | {one.help} | {_else(one)} |\n"


def _else(asked: Input) -> str:
    """What becomes of an input that no option gives."""
    looked = found.where(asked)
    taken = f"{amount(asked.assumed, asked.unit)}: {asked.because}" if asked.assumed is not None else ""
    lacking = "left out" if not asked.needed else "asked for"
    return "; ".join(text for text in (f"found in: {looked}" if looked else "", taken or lacking) if text)


def waits() -> Iterator[str]:
    """Every wait event of PostgreSQL with its class, as dataset/waits/postgresql.csv has it, and what it may mean."""
    yield "# Wait events of PostgreSQL\n\n"
    yield "A session that waits for nothing is on a CPU, or wants to be: class and event `CPU`. `*` stands for all\n"
    yield "events of a type that have no line. Background processes are all but client backends and their parallel\n"
    yield "workers. Version 17 spells some events otherwise (`BuffileRead`, `WalSync`): the older spelling is kept\n"
    yield "for all versions. What an event usually means, and what to collect to tell, stands below\n"
    yield "[by event](#what-it-usually-means), and for all others [by kind](#by-kind).\n\n"
    yield "| type | event | class | of a background process | kind | meaning |\n|---|---|---|---|---|---|\n"
    for event in wait_events("postgresql"):
        background = event.background_class or event.wait_class
        kind = event.wait_kind + (f" ({event.background_kind})" if event.background_kind else "")
        yield f"| {event.wait_event_type} | {event.event} | {event.wait_class} | {background} | {kind} "
        yield f"| {event.meaning} |\n"
    yield "\n## What it usually means\n\n| event | usually | to tell, collect |\n|---|---|---|\n"
    told = {event.event: advice(event.event, event.wait_kind, "postgresql") for event in wait_events("postgresql")}
    yield from (f"| {event} | {one.usually} | {one.collect} |\n" for event, one in told.items() if one.is_own)
    yield "\n### By kind\n\n| kind | usually | to tell, collect |\n|---|---|---|\n"
    kinds = {event.wait_kind: told[event.event] for event in wait_events("postgresql") if not told[event.event].is_own}
    yield from (f"| {kind} | {kinds[kind].usually} | {kinds[kind].collect} |\n" for kind in KINDS if kind in kinds)


def wait_kinds() -> Iterator[str]:
    """Every kind of wait, and which events of each vendor are of it."""
    yield "# Kinds of wait\n\n"
    yield "What `wait_kind` of `wait` and `session` holds: the same words for what any server waits for. Causes\n"
    yield "that are the same everywhere ask for a kind. `%` in the name of an event stands for any text.\n"
    yield "PostgreSQL's events by type: [Wait events of PostgreSQL](postgresql-waits.md).\n"
    for kind, meaning in KINDS.items():
        yield f"\n## {kind}\n{meaning}\n\n"
        for vendor, name in (("postgresql", "PostgreSQL"), ("oracle", "Oracle"), ("mysql", "MySQL, MariaDB")):
            lines = (line for line in wait_events(vendor) if kind in (line.wait_kind, line.background_kind))
            events = dict.fromkeys(line.event for line in lines)
            if told := ", ".join(f"`{event}`" for event in events if event != "*"):
                yield f"- {name}: {told}\n"
        if told := ", ".join(f"`{one.function}`" for one in places() if one.wait_kind == kind):
            yield f"- [Linux](kernel-waits.md): {told}\n"


def kernel_waits() -> Iterator[str]:
    """Every place in the kernel where a session may stand."""
    yield "# Places in the Linux kernel\n\n"
    yield "A session that is active and waits for nothing that PostgreSQL names, and that sleeps, is told with the\n"
    yield "kernel's function in which it does (`/proc/PID/wchan`): root and the server's user see that. `: stderr`\n"
    yield "behind it is a write to the server's own log. `off the CPU` is what is left of such sessions where nobody\n"
    yield "may look: samples at work, less what the scheduler counted of them on a CPU or waiting for one.\n\n"
    yield "| function | kind | it is | usually | to tell, collect | kernel source |\n|---|---|---|---|---|---|\n"
    for one in sorted(places(), key=lambda one: one.function.lstrip("%_")):
        yield f"| `{one.function}` | {one.wait_kind} | {one.meaning} | {one.usually} | {one.collect} | {one.source} |\n"


def common_statistics() -> Iterator[str]:
    """Every common statistic with the vendors' names."""
    yield "# Statistics that all vendors have\n\n"
    yield "The table `statistic` holds each under its source's own name; causes that are the same everywhere ask for\n"
    yield "the common one. Several names of a vendor are added up.\n\n"
    yield "| name | unit | PostgreSQL | Oracle | MySQL, MariaDB | meaning |\n|---|---|---|---|---|---|\n"
    for name, common in COMMON.items():
        own = " | ".join(" + ".join(f"`{one}`" for one in names) for names in common.names.values())
        yield f"| {name} | {common.unit} | {own} | {common.meaning} |\n"


def commands() -> Iterator[str]:
    """Every command with its options, as `--help` has them."""
    cli.load()
    group = get_group(cli.app)
    yield "# Commands\n\nExit status of all: 0 healthy or done, 1 findings, 2 usage or data error.\n"
    for name, command in sorted(group.commands.items()):
        yield from _command(f"doctord {name}", command)


def _command(path: str, command: Any) -> Iterator[str]:
    yield f"\n## {path}\n{(command.help or '').strip()}\n\n"
    if isinstance(command, TyperGroup):
        for name, below in sorted(command.commands.items()):
            yield from _command(f"{path} {name}", below)
        return
    yield "| argument | default | meaning |\n|---|---|---|\n"
    for parameter in command.params:
        if parameter.name != "help":
            yield _row(parameter)


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    default = "" if parameter.default in (None, False, "", ()) else f"`{parameter.default}`"
    return f"| {names} | {default} | {getattr(parameter, 'help', None) or ''} |\n"


def files() -> Iterator[str]:
    """Every format that is read, by package, as its module's docstring has it."""
    yield "# Files that are read\n\n"
    yield "`doctord read`, `doctord diagnose` and `doctord map` find a file's format by its content, never by its\n"
    yield "name, and take files, folders and archives: [how to read files](../how-to/read-files.md).\n"
    by_folder = sorted(formats(), key=lambda known: known.__name__.rpartition("."))
    for folder, readers in groupby(by_folder, key=lambda known: known.__name__.rpartition(".")[0]):
        yield f"\n## {str(import_module(folder).__doc__).splitlines()[0].rstrip('.')}\n"
        for known in readers:
            first, _, rest = str(known.__doc__).strip().partition("\n")
            yield f"\n### {known.NAME}\n{first}\n{rest}".rstrip() + "\n"


def oracle_names() -> Iterator[str]:
    """Every statistic that Oracle's reports give, as the sections have it."""
    yield "# Statistics of Oracle's reports\n\n"
    yield "What AWR reports (HTML and text) and Statspack give in the table `statistic`, component `oracle`. `NAME`\n"
    yield "stands for each name that is printed. Counts and times over the interval are rates; a unit that does not\n"
    yield "end in `per_s` is that of a reading, a share or a mean. An entity of a pluggable database has its name\n"
    yield "before it (`PDB:TABLESPACE`), one of the root has none. A section that is not listed is kept under its own\n"
    yield "title and the names of its columns (`Smart IO.MB Requested Total`). Worked out is `reconcile.unaccounted`\n"
    yield "(s_per_s): database time less DB CPU and less foreground waits that are not idle.\n"
    for module in sections.MODULES:
        rows = dict.fromkeys(given for section in module.SECTIONS for given in section.given())
        if rows:
            yield f"\n## {str(module.__doc__).splitlines()[0].rstrip('.')}\n\n"
            yield "| statistic | unit | entity |\n|---|---|---|\n"
            yield from (f"| `{name}` | {unit} | {entity} |\n" for name, unit, entity in rows)


def mcp() -> Iterator[str]:
    """Every tool of `doctord mcp`: what it takes, and what an assistant reads of it."""
    yield "# Tools of `doctord mcp`\n\nHow a client starts it: [let an assistant look](../how-to/mcp.md). Each only\n"
    yield "reads. An answer has 8,000 bytes of JSON at most: `left_out` counts what of which list is not in it.\n"
    for name, tool in TOOLS.items():
        yield f"\n## {name}\n{inspect.getdoc(tool)}\n\n"
        for one in inspect.signature(tool, eval_str=True).parameters.values():
            if one.name != "lakes":
                needed = " (needed)" if one.default is inspect.Parameter.empty else ""
                yield f"- `{one.name}`{needed}: {one.annotation.__metadata__[-1].description}\n"
        keys = ", ".join(f"`{key}`" for key in SCHEMAS[name].__annotations__)
        yield f"\nGives {keys}. {inspect.getdoc(SCHEMAS[name])}\n"


def http_api() -> Iterator[str]:
    """Every resource of `doctord serve`: what it takes, and what it gives."""
    yield HTTP_API.replace("PREFIX", openapi.PREFIX).replace("ARROW", openapi.ARROW)
    for endpoint in ENDPOINTS:
        yield f"\n## {endpoint.path}\n{endpoint.description}\n\n"
        for one in openapi.parameters(endpoint):
            yield f"- `{one['name']}`{' (needed)' if one['required'] else ''}: {_told(one)}\n"
        keys = ", ".join(f"`{key}`" for key in endpoint.document.__annotations__)
        yield f"\nGives {keys}. {inspect.getdoc(endpoint.document)}{' Arrow too.' if endpoint.is_tabular else ''}\n"
    yield from STREAM


def _told(parameter: Any) -> str:
    """What a parameter is, its choices and bounds, and what it is if it is not said."""
    schema = parameter["schema"]
    bounds = [f"{schema['minimum']} to {schema['maximum']}"] if "maximum" in schema else []
    choices = [", ".join(f"`{one}`" for one in schema.get("enum", ()))] if "enum" in schema else []
    default = [f"`{schema['default']}` if not said"] if schema.get("default") is not None else []
    told = "; ".join((*choices, *bounds, *default))
    return f"{parameter['description']} {f'({told})' if told else ''}".strip()


HTTP_API = """# The HTTP API of `doctord serve`

How to start it: [serve](../how-to/serve.md). All resources are read by GET below `PREFIX`, and described for programs
at `PREFIX/openapi.json`.

- **Times** are ISO 8601 in UTC. Where `to` is not said it is now, or the end of a lake that nobody has filled for five
  minutes; where `from` is not said it is an hour before.
- **What was not measured** is null, not zero.
- **Refusals** are `application/problem+json`: `title`, `status`, `detail`, and `hint`: what to do instead.
- **ETag**: an answer about a time that has been recorded whole has one; `If-None-Match` saves the transfer.
- **Arrow**: where it says so, `Accept: ARROW` gives the buckets as columns: `start_s`
  (seconds since 1970), and each list of numbers under the names that lead to it: `bands.0.values`, `total.high`. The
  rest of the document is JSON in the schema's metadata, `doctord`.
"""
STREAM = """
## /stream
Server-sent events: `grown`, whose data is `{"until": {LAKE: MOMENT}}`, up to when there is data in each lake; said at
once, and whenever it grows, once a second at most. A comment comes every 15 s where nothing does.
"""


def exporters() -> Iterator[str]:
    """Every metric of an exporter that has a place of its own, and the place."""
    yield "# Metrics of exporters\n\nWhat `doctord diagnose --prometheus`, and files of scrapes, make of metrics:\n"
    yield "[how to](../how-to/read-from-prometheus.md). A counter gives its rate, what is `since` a moment the time\n"
    yield "since then. Views of PostgreSQL (`pg_stat_database_xact_commit`, before and after 0.13 with and without\n"
    yield "`_total`) become `VIEW.COLUMN`, `pg_settings_NAME` and `mysql_global_variables_NAME` settings,\n"
    yield "`mysql_global_status_NAME` becomes `global_status.NAME`; `pg_stat_activity_count` with wait events becomes\n"
    yield "rows of `session`. Other metrics of a file are `statistic`, component `prometheus`; a server is not asked\n"
    yield "for them.\n"
    for component, told in groupby(sorted(exported.places().items(), key=_exporter), key=lambda one: _exporter(one)[0]):
        yield f"\n## Of {component}\n\n| metric | versions | table | column, or name of the statistic | as | times |\n"
        yield "|---|---|---|---|---|---|\n"
        for metric, each in told:
            for place in each:
                name = f"{metric}{{{place.label}}}" if place.label else metric
                times = "" if place.factor == 1 else f"{place.factor:g}"
                cells = [f"`{name}`", place.versions, place.table, f"`{place.column}`", place.kind, times]
                yield f"| {' | '.join(cells)} |\n"


def _exporter(told: tuple[str, tuple[exported.Place, ...]]) -> tuple[str, str, str]:
    metric, (place, *_) = told
    return place.component, place.table, metric


PAGES = {
    "tables.md": tables,
    "causes.md": causes,
    "rules.md": rules,
    "questions.md": questions,
    "commands.md": commands,
    "files.md": files,
    "oracle-names.md": oracle_names,
    "postgresql-waits.md": waits,
    "wait-kinds.md": wait_kinds,
    "kernel-waits.md": kernel_waits,
    "common-statistics.md": common_statistics,
    "mcp.md": mcp,
    "http-api.md": http_api,
    "exporters.md": exporters,
}


def page(name: str) -> str:
    """The text of a page."""
    return f"{MADE}\n{''.join(PAGES[name]())}"


if __name__ == "__main__":
    for made in PAGES:
        (FOLDER / made).write_text(page(made), encoding="utf-8")
