"""What users are told to type exists, and is said in words that are not homemade."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from click import Command
from typer.main import get_command

from doctord.cli import app, load
from doctord.diagnose.engine import CAUSES
from doctord.lint.engine import RULES

load()
SOURCE = Path(__file__).parents[1] / "src" / "doctord"
GROUP = get_command(app)
COMMANDS: dict[str, Command] = dict(vars(GROUP)["commands"])
# "doctord" as a name in a sentence, not as a command to type.
SENTENCES = {
    "has",
    "is",
    "in",
    "by",
    "at",
    "can",
    "draws",
    "get",
    "logs",
    "connects",
    "or",
    "peer",
    "gave",
    "may",
    "writes",
    "was",
    "reads",
    "keeps",
    "and",
    "itself",
    "cannot",
    "knows",
    "does",
}
HOMEMADE = (
    r"\breckon", r"\bpatients?\b", r"sessions is not seen", r"What is there now", r"% as long\b", r"\bunseen\b",
)  # fmt: skip


# Options of other programs, as they stand in sentences.
SENTENCES_OF = ("app/", "read/", "report/", "diagnose/", "lint/", "analyse/", "collect/", "lake/")
OF_OTHERS = {
    "--avail", "--vpm",  # lscss
    "--help", "--version", "--enable-dtrace", "--reload", "--governor", "--enable", "--human", "--pretty",
    "--single-transaction", "--containers", "--format", "--timestamps", "--progress", "--cpunodebind", "--membind",
    "--preferred", "--interleave",
    "--shm-size",  # docker run
    "--inodes",  # du
    "--as", "--data",  # prlimit
    "--exclude",  # systemd-tmpfiles
    "--checkpoint",  # pg_basebackup
    "--pkglibdir",  # pg_config
    "--web", "--collect",  # Prometheus and its exporters: --web.config.file, --collect.info_schema.processlist
    "--socket", "--user",  # mysql
}  # fmt: skip
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


@cache
def texts() -> Sequence[tuple[str, str]]:
    """Every text in the source with its place: messages, hints, advice, docstrings of causes and rules."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for kind in ("src/doctord/**/*.toml", "src/doctord/**/*.j2", "src/doctord/**/*.js", "native/**/src/**/*.rs"):
        for path in sorted(SOURCE.parents[1].glob(kind)):
            yield str(path.relative_to(SOURCE.parents[1])), path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


@cache
def shown() -> Sequence[tuple[str, str]]:
    """What users read: the layers that make words, without docstrings; advice of causes and rules; pages."""
    return tuple(_shown())


def _shown() -> Iterator[tuple[str, str]]:
    for path in sorted((SOURCE / "report").rglob("*.j2")):
        yield path.name, path.read_text(encoding="utf-8")
    for name, cause in CAUSES.items():
        yield name, " ".join(cause.sections.values())
    for name, rule in RULES.items():
        yield name, " ".join(rule.sections.values())
    for folder in ("report", "diagnose", "lint", "cli", "app", "analyse"):
        for path in sorted((SOURCE / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
            documentation = {ast.get_docstring(node, clean=False) for node in nodes}
            for node in ast.walk(tree):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and " " in text and text not in documentation:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def leaves(commands: dict[str, Command] = COMMANDS) -> Iterator[tuple[str, Command]]:
    """All commands; of a group those in it."""
    for name, command in commands.items():
        if inside := vars(command).get("commands"):
            yield from ((f"{name} {one}", command) for one, command in leaves(inside))
        else:
            yield name, command


def options_of(command: Command) -> set[str]:
    """How the options of a command are written."""
    return {one for parameter in command.params for one in (*parameter.opts, *parameter.secondary_opts)}


def unknown(text: str) -> Iterator[str]:
    """Commands and options in a text that doctord does not have."""
    for line in re.findall(r"\bdoctord ([a-z][a-z-]*\b[^;,:\n`()]*)", text):
        name, *words = line.replace(". ", " ; ").rstrip(".").split(";")[0].split()
        if name in SENTENCES:
            continue
        command = COMMANDS.get(name)
        if command is not None and words and words[0] in vars(command).get("commands", {}):
            command = vars(command)["commands"][words[0]]
        options = options_of(command) if command else set()
        if command is None:
            yield f"doctord {name}"
        yield from (word for word in words if re.fullmatch(r"--[a-z-]+", word) and word not in options | {"--help"})


def test_advice_names_commands_and_options_that_exist() -> None:
    assert [(place, found) for place, text in texts() for found in unknown(text)] == []


def test_options_in_sentences_exist() -> None:
    known = set().union(OF_OTHERS, *(options_of(command) for _, command in leaves()))
    sentences = ((place, text) for place, text in texts() if " " in text and place.startswith(SENTENCES_OF))
    assert [(place, one) for place, text in sentences for one in OPTION.findall(text) if one not in known] == []


OF_A_LAKE_ALONE = ("incident add", "fleet diagnose", "fleet lint", "fleet report")
OF_A_TIME = [name for name, command in leaves() if "--from" in options_of(command) and name not in OF_A_LAKE_ALONE]


@pytest.mark.parametrize("name", OF_A_TIME)
def test_who_reads_files_takes_what_their_notes_ask_for(name: str) -> None:
    asked = {
        one for place, text in texts() if place.startswith("read/") for one in re.findall(r"(--[a-z]+) tells", text)
    }
    assert asked == {"--day", "--every", "--unit", "--zone"}
    assert asked | {"-v"} <= options_of(dict(leaves())[name])


def test_the_test_finds_what_does_not_exist() -> None:
    assert list(unknown("doctord examine --now finds it")) == ["doctord examine", "--now"]
    assert list(unknown("doctord record --lake L --for 5m")) == []


@pytest.mark.parametrize("pattern", HOMEMADE)
def test_no_homemade_words_where_users_read(pattern: str) -> None:
    assert [(place, text) for place, text in shown() if re.search(pattern, text)] == []


def test_no_name_is_broken_by_a_line() -> None:
    assert [(place, found) for place, text in shown() for found in re.findall(r"\w_ [a-z]+", text)] == []
