import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from doctord import cli
from doctord.analyse.sizing.questions import QUESTIONS
from doctord.dataset.rows import now_us, rows
from doctord.lake.writer import LakeWriter

ANSWERED = {
    "huge-pages": "--shared 12GiB --total 64GiB --have 6144 --memlock 12GiB",
    "page-tables": "--sessions 100 --shared 4GiB --total 64GiB --measured 500MiB",
    "tlb": "--memory 12GiB --page 4MiB --private 700MiB --tlb-entries 512 --minor-faults 900 --major-faults 0",
    "redo": "--rate 9.45MB/s --size 16GB --archive-time 2min --buffer 72MB --groups 4",
    "wal": "--rate 12MB/s --max-wal-size 8GiB --replay-rate 50MB/s",
    "queue-depth": "--luns 8 --curve 500:2ms,1000:2.4ms,1500:4ms",
    "disks": "--reads 1000/s --writes 60/min --service 5ms --write-penalty 2 --disks 23",
    "pool": "--rate 800/s --held 12ms --cpu 4ms --cpus 8 --pool 20",
    "work-memory": "--total 64GiB --shared 16GiB --sessions 300 --sorting 40 --work-mem 64MiB",
    "buffer-cache": "--advice 4GiB:900000,8GiB:400000,16GiB:390000 --size 8GiB --read 5ms",
    "listener": "--pass-time 0.3s --rate 1/s --burst 200 --backlog 200",
}


def run(*arguments: str) -> Result:
    cli.load()
    return CliRunner().invoke(cli.app, ["size", *arguments])


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_answered_within_80_columns(question: str) -> None:
    outcome = run(question, *ANSWERED[question].split())
    assert outcome.exit_code == (1 if question == "tlb" else 0), outcome.output  # 512 entries reach only 2 GiB
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert "\nArithmetic\n" in outcome.stdout


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_document_has_the_same_steps(question: str) -> None:
    arguments = ANSWERED[question].split()
    document = json.loads(run(question, *arguments, "--json").stdout)
    text = " ".join(run(question, *arguments).stdout.split())
    assert document["question"] == question
    assert {one["origin"] for one in document["given"]} <= {word for word in arguments if word.startswith("--")}
    assert all(one["because"] for one in document["assumed"])
    for step in document["steps"]:
        assert f"{step['name']} = {step['formula']}" in text
        assert f"= {step['figures']} = " in text


def test_a_step_can_be_followed() -> None:
    outcome = run("redo", "--rate", "9.45MB/s", "--size", "500MB")
    assert "  switch interval = log size / redo rate = 500 MiB / 9.45 MiB/s = 52.91 s [1]\n" in outcome.stdout
    assert "\nThe present setting is not right.\n" in outcome.stdout
    assert outcome.exit_code == 1


def test_what_is_only_held_against_the_answer_is_shown_too() -> None:
    outcome = run("redo", "--rate", "9.45MB/s", "--groups", "3")
    assert "  log groups  3           --groups\n" in outcome.stdout


def test_what_is_missing_is_asked_for_by_name() -> None:
    outcome = run("pool", "--rate", "800/s")
    assert outcome.exit_code == 2
    assert "size pool lacks: time held and CPU time and CPUs" in outcome.stderr
    assert "--held" in outcome.stderr
    assert "or files or a lake that hold it" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("redo --rate nonsense", "'nonsense' is no rate"),
        ("redo --rate 5XB/s", "'5XB/s' is no rate"),
        ("redo --rate 5MB/fortnight", "is no rate"),
        ("redo --rate 0MB/s", "above zero"),
        ("redo --rate=-5MB/s", "'-5MB/s' is no rate"),
        ("redo --rate 9999999TB/s", "more than any machine has"),
        (f"redo --rate {'9' * 400}MB/s", "too long"),
        ("redo --rate 1MB/s --archive-time 2min", "of a log of what size"),
        ("redo --rate 1MB/s --switch-every 20parsecs", "is no duration"),
        ("redo --rate 1MB/s --switch-every 99999d", "more than any machine has"),
        ("pool --cpus 2.5", "no whole number"),
        ("pool --cpus 0", "above zero"),
        ("pool --limit 170%", "no part of a whole"),
        ("pool --limit 100%", "below 100%"),
        ("disks --reads many", "no rate"),
        ("queue-depth --curve 500", "not a list of points"),
        ("queue-depth --curve 500:2ms,500:3ms", "two points stand at one place"),
        ("queue-depth --curve 500:x", "is no duration"),
        ("queue-depth --luns 8", "the load is not known"),
        ("buffer-cache --advice 4GiB:9", "two sizes at least"),
        ("redo --live --lake /nowhere", "either this host now"),
        ("redo /nowhere --lake /nowhere", "either files or a lake"),
    ],
)
def test_bad_input_is_refused_with_a_hint(arguments: str, words: str) -> None:
    outcome = run(*arguments.split())
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert "\nhint: " in outcome.stderr
    assert outcome.stdout == ""


@pytest.fixture
def init_ora(tmp_path: Path) -> Path:
    file = tmp_path / "initx.ora"
    file.write_text("*.db_name='x'\n*.sga_target=6G\n*.processes=300\n", encoding="utf-8")
    return file


def test_files_tell_what_options_do_not(init_ora: Path) -> None:
    outcome = run("huge-pages", str(init_ora), "--have", "100", "--json")
    given = {one["name"]: (one["value"], one["origin"]) for one in json.loads(outcome.stdout)["given"]}
    assert given["shared memory"] == (6 * 2**30, "setting: sga_target")
    assert outcome.exit_code == 1


def test_options_go_first(init_ora: Path) -> None:
    outcome = run("huge-pages", str(init_ora), "--shared", "12GiB", "--json")
    given = {one["name"]: one["value"] for one in json.loads(outcome.stdout)["given"]}
    assert given["shared memory"] == 12 * 2**30
    assert outcome.exit_code == 0


def test_a_file_that_does_not_hold_it_is_said(init_ora: Path) -> None:
    outcome = run("work-memory", str(init_ora), "--total", "64GiB")
    assert outcome.exit_code == 2
    assert "size work-memory lacks: sessions at work" in outcome.stderr


@pytest.mark.parametrize(("db", "size"), [("oracle:x", 6), ("oracle:y", 8)])
def test_one_server_of_several(init_ora: Path, tmp_path: Path, db: str, size: int) -> None:
    other = tmp_path / "inity.ora"
    other.write_text("*.db_name='y'\n*.sga_target=8G\n", encoding="utf-8")
    outcome = run("huge-pages", str(init_ora), str(other), "--db", db, "--json")
    assert json.loads(outcome.stdout)["given"][0]["value"] == size * 2**30


def test_a_server_that_is_not_there_is_refused(init_ora: Path) -> None:
    outcome = run("huge-pages", str(init_ora), "--db", "oracle:nowhere")
    assert outcome.exit_code == 2
    assert "hint: there are: " in outcome.stderr


def test_a_lake_tells_the_rate(tmp_path: Path) -> None:
    wal = {"ts": now_us(), "interval_s": 5.0, "db": "postgresql:5432", "name": "pg_stat_wal.wal_bytes", "value": 3e6}
    setting = {"ts": now_us(), "db": "postgresql:5432", "name": "max_wal_size", "value": "1024", "unit": "MB"}
    with LakeWriter(tmp_path) as writer:
        writer.append(rows("statistic", [wal]))
        writer.append(rows("setting", [setting]))
    outcome = run("wal", "--lake", str(tmp_path), "--json")
    given = {one["name"]: one["value"] for one in json.loads(outcome.stdout)["given"]}
    assert given == {"WAL rate": 3e6, "max_wal_size": 2**30}
    assert outcome.exit_code == 1  # 1 GiB is less than 3 MB/s x 300 s x 1.9


def test_the_questions_cost_the_command_line_no_heavy_import() -> None:
    code = "import sys, doctord.cli as c; c.load(); print({'polars', 'pyarrow', 'numpy', 'duckdb'} & set(sys.modules))"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180)
    assert outcome.stdout == "set()\n"
