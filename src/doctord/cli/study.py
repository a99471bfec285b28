"""`doctord study`: was it better."""

from pathlib import Path
from typing import Annotated

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import HostNamed, Html, Json, Lake, OfFiles, argument, length, name, number, takes
from doctord.errors import UserError
from doctord.report.files import check_writable, write
from doctord.units import parse_duration

period = takes("FROM..TO")


Targets = Annotated[list[str] | None, takes("TARGET")("What was to be reached: 'commit_ms < 2'.")]
Accepted = Annotated[list[str] | None, name("A figure that may get worse.")]


@command(app)
def study(
    *,
    paths: Annotated[
        list[Path] | None, argument("Before and after; or a folder, table or study file (TOML) that holds both.")
    ] = None,
    lake: Lake = None,
    before: Annotated[str | None, period("The period before, of a lake.")] = None,
    after: Annotated[str | None, period("The period after, of a lake.")] = None,
    twin: Annotated[str, takes("HOST|LAKE")("A server that was not changed, whose own difference is taken off.")] = "",
    target: Targets = None,
    accept: Accepted = None,
    change: Annotated[
        str, name("What was changed on purpose, as settings and relations are called: what else differs confounds it.")
    ] = "",
    load: Annotated[
        str | None, name("Unit of load: commit, execution, statement; none: throughput is what is judged.")
    ] = None,
    host: HostNamed = None,
    files: OfFiles,
    html: Html = None,
    json: Json = False,
) -> int:
    """Say whether it was better after than before, by how much, and whether that is more than chance.

    Database time is compared by the unit of load, and at a load that both periods had. Chance is told from the rows of
    both periods; single values have no interval, and it is said.

    Exit status: 0 better or no difference, 1 worse, a target missed or a regression not accepted, 2 not comparable, or
    a wrong option.
    """
    from doctord.app.source import recorded
    from doctord.app.study import study as studying
    from doctord.app.study.question import target as target_of
    from doctord.app.study.study_file import is_study_file, of_file
    from doctord.report.study import answer

    check_writable(html)
    question = studying.Question(
        tuple(map(target_of, target or ())), tuple(accept or ()), load, change=change, twin=twin
    )
    if before or after:
        if not (before and after) or paths:
            raise UserError("a study of a lake needs both --before and --after, and no files", studying.HINT)
        found = studying.of_lake(recorded(lake, host), before, after, question, Terminal())
    elif twin:
        raise UserError(
            "a twin without two times of a lake", "doctord study --before FROM..TO --after FROM..TO --twin HOST"
        )
    elif paths and len(paths) == 1 and is_study_file(paths[0]):
        if target or accept or load or host or change:
            raise UserError(
                f"{paths[0]} says itself what is asked", "write targets, accepted, change, load and host into it"
            )
        found = of_file(paths[0], files.options(), Terminal())
    else:
        found = studying.of_paths(paths or [], files.options(), question, host, Terminal())
    if html:
        write(html, answer.page(found))
    return show(found, answer, json=json)


@command(app, "study-run")
def study_run(
    *,
    a: Annotated[str, takes("COMMAND")("The command before.", "--a")],
    b: Annotated[str, takes("COMMAND")("The command after.", "--b")],
    pairs: Annotated[int, number("How many times each is run.")] = 10,
    timeout: Annotated[str, length("How long one run may take.")] = "10m",
    target: Targets = None,
    accept: Accepted = None,
    json: Json = False,
) -> int:
    """Run two commands in turn, and say whether the second is better: time by the clock, and CPU time.

    They run in pairs whose order changes (AB, BA, AB, ...), without a shell, and their output is left.

    Exit status: 0 better or no difference, 1 worse, a target missed or a regression not accepted, 2 a command failed,
    or a wrong option.
    """
    from doctord.app.study.commands import of_commands
    from doctord.app.study.question import target as target_of
    from doctord.app.study.study import Question
    from doctord.report.study import answer

    question = Question(tuple(map(target_of, target or ())), tuple(accept or ()))
    return show(of_commands((a, b), pairs, parse_duration(timeout), question, Terminal()), answer, json=json)
