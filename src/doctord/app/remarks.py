"""What is to be known of files that were read, in few lines however many files there are."""

from collections import Counter
from collections.abc import Iterator, Sequence

from doctord.errors import UserError
from doctord.read.gather import FileRead

FEW = 3  # files of which one thing is said one by one
MOST_NOTES = 12  # that differ from file to file: half a screen
LISTED = "-v lists them"


def remarks(files: Sequence[FileRead], *, is_verbose: bool) -> Iterator[str]:
    """A line for each thing that is said of a file; what is said of many is one line, unless each is wanted."""
    refused = [file for file in files if file.refusal]
    broken = [file for file in files if file.skipped]
    notes = Counter(note for file in files for note in file.notes)
    if is_verbose or len(refused) <= FEW:
        yield from (refusal_of(file) for file in refused)
    else:
        names = ", ".join(file.name for file in refused[:FEW])
        yield f"{len(refused)} of {len(files)} files were not read: {names}, ...\nhint: {LISTED}, each with its reason"
    if is_verbose or len(broken) <= FEW:
        yield from (str(line) for file in broken for line in file.skipped)
    else:
        lines = sum(file.skipped_lines for file in broken)
        yield f"{lines} lines of {len(broken)} files could not be used\nhint: {LISTED}"
    told = [f"{file.name}: {note}" for file in files for note in file.notes if is_verbose or notes[note] <= FEW]
    most = len(told) if is_verbose else MOST_NOTES
    yield from told[:most]
    if len(told) > most:
        yield f"{len(told) - most} more notes on files\nhint: {LISTED}"
    if not is_verbose:
        yield from (f"{count} files: {note}" for note, count in notes.items() if count > FEW)


def refusal_of(file: FileRead) -> str:
    """Why nothing of a file could be used, with what to do."""
    why, hint = file.refusal or ("", "")
    return f"{why}\nhint: {hint}" if hint else why


def nothing_used(files: Sequence[FileRead]) -> UserError:
    """Why nothing of any file could be used: the reason itself, where there is one."""
    if not files:
        return UserError("there is no file in what was named", "name files, folders or archives that hold some")
    reasons = [file.refusal for file in files if file.refusal]
    if len(files) == 1 and reasons:
        return UserError(reasons[0][0], reasons[0][1] or "doctord read --formats lists what can be read")
    return UserError(
        f"nothing in these {len(files)} files can be used" if len(files) > 1 else "nothing in this file can be used",
        "doctord read says what each of them is" if len(files) > 1 else "doctord read says what it is",
    )
