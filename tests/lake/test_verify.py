import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from damages import make, read
from doctord.lake.place import LakeError, LakePaths
from doctord.lake.repair import repair
from doctord.lake.verify import verify
from doctord.lake.writer import LakeWriter
from lake_rows import segments, statistic, values


def fixed(path: Path) -> list[tuple[str, str]]:
    """Repair a lake; kind and what was done of each flaw. Afterwards it must be sound."""
    done = [(flaw.kind, deed) for flaw, deed in repair(LakePaths(path), verify(LakePaths(path)).flaws)]
    assert [flaw for flaw in verify(LakePaths(path)).flaws if not flaw.is_harmless] == []
    return done


def a_sealed_file(path: Path) -> Path:
    return min(path.glob("sealed/statistic/*/*.parquet"))


def test_no_lake_is_an_error(path: Path) -> None:
    with pytest.raises(LakeError, match="no lake here"):
        verify(LakePaths(path))


def test_a_damaged_file_is_set_aside_and_the_rest_stays(path: Path) -> None:
    written = make(path)
    file = a_sealed_file(path)
    content = bytearray(file.read_bytes())
    content[50] ^= 4
    file.write_bytes(content)
    [(kind, deed)] = fixed(path)
    assert (kind, "set aside as set_aside/sealed" in deed) == ("damaged", True)
    assert (path / "set_aside" / file.relative_to(path)).read_bytes() == content
    found, problems = read(path)
    assert problems == []
    assert found["statistic"].total() == written["statistic"].total() - 400


def test_sound_row_groups_of_a_damaged_file_are_kept(path: Path) -> None:
    with LakeWriter(path) as writer:
        for second in range(0, 150_000, 10_000):
            writer.append(statistic(*range(second, second + 10_000)))
            writer.sync()
    file = a_sealed_file(path)
    content = bytearray(file.read_bytes())
    content[50] ^= 4
    file.write_bytes(content)
    lost = pq.ParquetFile(file).metadata.row_group(0).num_rows
    [(_, deed)] = fixed(path)
    assert f"{150_000 - lost} sound rows kept" in deed
    assert len(values(path)) == 150_000 - lost


def test_a_damaged_segment_is_sealed_without_the_damage(path: Path) -> None:
    written = make(path)
    [segment] = segments(path)
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 4
    segment.write_bytes(content)
    assert "what is sound was sealed" in fixed(path)[0][1]
    assert segments(path) == []
    lost = sum((written[table] - read(path)[0][table]).total() for table in written)
    assert 0 < lost < 150


def test_rows_under_a_wrong_day_are_put_under_their_own(path: Path) -> None:
    written = make(path)
    file = a_sealed_file(path)
    wrong = file.parent.parent / "2020-01-01" / file.name
    wrong.parent.mkdir()
    file.rename(wrong)
    assert read(path)[0] != written
    assert [kind for kind, _ in fixed(path)] == ["misplaced"]
    assert read(path) == (written, [])


def test_a_file_of_before_gets_checksums(path: Path) -> None:
    written = make(path)
    file = a_sealed_file(path)
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), file)
    verified = verify(LakePaths(path))
    assert [flaw.is_harmless for flaw in verified.flaws] == [True]
    assert fixed(path) == [("unchecked", "checksums added")]
    assert verify(LakePaths(path)).flaws == []
    assert read(path) == (written, [])


def test_what_is_nothing_of_ours_is_set_aside(path: Path) -> None:
    written = make(path)
    strangers = [path / "open" / "notes.txt", a_sealed_file(path).with_name("notes.parquet")]
    for stranger in strangers:
        stranger.write_text("hello")
    left = a_sealed_file(path).with_name("20261120T120000Z-0000abcd.unfinished")
    left.write_text("PAR1")
    assert sorted(kind for kind, _ in fixed(path)) == ["foreign", "foreign", "left_over"]
    for stranger in (*strangers, left):
        assert not stranger.exists()
        assert (path / "set_aside" / stranger.relative_to(path)).exists()
    assert read(path) == (written, [])


def test_a_lake_that_is_recorded_into_is_not_repaired(path: Path) -> None:
    with LakeWriter(path), pytest.raises(LakeError, match="is recording into this lake"):
        list(repair(LakePaths(path), verify(LakePaths(path)).flaws))


def test_verifying_changes_nothing(path: Path) -> None:
    make(path)
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    shutil.copy(a_sealed_file(path), path / "sealed" / "statistic" / "2026-11-20" / "notes.parquet")
    stray = path / "sealed" / "statistic" / "2026-11-20" / "notes.parquet"
    assert [flaw.path for flaw in verify(LakePaths(path)).flaws] == [stray]
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file() and file != stray} == before


def test_a_torn_end_is_named_where_nobody_writes(path: Path) -> None:
    make(path)
    [segment] = segments(path)
    segment.write_bytes(segment.read_bytes()[:-10])
    problems = read(path)[1]
    assert len(problems) == 1
    assert "torn" in problems[0]
    assert [flaw.kind for flaw in verify(LakePaths(path)).flaws] == ["left_over"]


def test_a_damaged_file_of_before_is_named_and_set_aside(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(*(value / 7 for value in range(5000))))
    file = a_sealed_file(path)
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), file)
    content = bytearray(file.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    file.write_bytes(content)
    assert [kind for kind, _ in fixed(path)] == ["damaged"]
    assert not file.exists()
