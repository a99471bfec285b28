"""`doctord lint`: what settings get wrong, of this host and its databases, or in configuration files."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command, status
from doctord.cli.arguments import Json, OfFiles, When, argument, file, flag, folder, in_lake, number, server
from doctord.errors import UserError


@command(app)
def lint(
    *,
    paths: Annotated[
        list[Path] | None, argument("Configuration files, SQL, folders, reports; none: this host, now.")
    ] = None,
    dsn: Annotated[
        list[str] | None,
        server("Look at this server (libpq connection string, mysql://USER@HOST:PORT) instead of those found here."),
    ] = None,
    measured: Annotated[Path | None, in_lake("Judge by what this lake holds of the workload.", "--with")] = None,
    when: When,
    files: OfFiles,
    cpus: Annotated[int | None, number("CPUs of the server, where no file tells.", min=1)] = None,
    baseline: Annotated[Path | None, file("What is accepted, why, and until when (TOML).")] = None,
    fix: Annotated[Path | None, folder("Write a patch and drop-ins that fix it into this folder.")] = None,
    write: Annotated[bool, flag("With --fix: change the files themselves, too.", "--write")] = False,
    json: Json = False,
    sarif: Annotated[bool, flag("Print SARIF 2.1.0.", "--sarif")] = False,
    junit: Annotated[bool, flag("Print JUnit XML.", "--junit")] = False,
) -> int:
    """Say what settings get wrong: for this machine, and with --with for its measured workload.

    `doctord lint /etc/postgresql/15/main /etc/sysctl.conf` reads files; without any, this host and the servers on it
    are asked. --from and --to say which time of the lake counts.

    Exit status: 0 notes at most, 1 something worse, 2 there was no setting, a server that was named did not answer,
    or a wrong option.
    """
    from doctord.app import lint as linting
    from doctord.report.lint.forms import Form, written
    from doctord.report.phrases import said

    if json + sarif + junit > 1:
        raise UserError("--json, --sarif and --junit are three forms of one document", "give one of them")
    if write and fix is None:
        raise UserError("--write needs --fix DIR", "the folder gets the patch, and drop-ins for what is in no file")
    form: Form = "json" if json else "sarif" if sarif else "junit" if junit else "text"
    asked = linting.Asked(paths or (), dsn or (), measured, when.interval(), files.options(), cpus, baseline)
    found = linting.examined(asked, Terminal())
    typer.echo(written(found, form))
    if fix:
        linting.write_fix(found, fix, said, write=write, watcher=Terminal())
    return status(linting.healthy(found, len(asked.dsns)))
