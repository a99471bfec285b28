"""SQL statements of a file and the hints in them: where each stands, its name and arguments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from doctord.dataset.tables import FROM_FILE
from doctord.lint.setting import Setting
from doctord.regex import regex

# What can stand in SQL without being SQL: quoted text, comments. The first that matches at a place counts.
TOKEN: Final = regex(
    r"""(?P<hint>/\*\+.*?\*/|--\+[^\n]*)
    |(?P<open>/\*\+.*\Z)
    |(?P<comment>/\*.*?(?:\*/|\Z)|--[^\n]*)
    |(?P<quoted>[nN]?[qQ]'(?P<bracket>[\[({<])(?:.*?)[\])}>]'|'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<end>;|^[ \t]*/[ \t]*$)
    |(?P<word>[^\W\d][\w$\#]*)""",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)
ITEM: Final = regex(r"(?P<name>[A-Za-z_][\w$]*)|(?P<other>\S)")
VERBS: Final = ("select", "insert", "update", "delete", "merge", "replace")
NEARLY: Final = regex(r"/\*\s+\+|--\s+\+")
# What may stand before a hint of pg_hint_plan: letters, digits, blanks, underscores, commas, parentheses.
BEFORE_HINT: Final = regex(r"[\w\s,()]*")


@dataclass(frozen=True, slots=True)
class Hint:
    """One hint.

    Attributes:
        name: As it is written.
        arguments: Its arguments, without the query block (`@sel$1`) that they are about.
        block: The query block that it names; null: that in which it stands.
        comment: Number of the comment in its statement.
        line, column: Where it stands, from 1.
        is_closed: Whether its parenthesis ends.
    """

    name: str
    arguments: tuple[str, ...]
    block: str | None
    comment: int
    line: int
    column: int
    is_closed: bool = True

    @property
    def text(self) -> str:
        """The hint as it is compared and shown: its name, and its arguments in parentheses, one blank between them."""
        return f"{self.name}({' '.join(self.arguments)})" if self.arguments else self.name


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that is, or looks like, one of hints.

    Attributes:
        verb: The word before it, in small letters; empty: none.
        is_first: Whether nothing but words stands before it in its statement.
        begin, end: Its place in the statement's text.
        stray: What in it is no hint.
        nearly: It is meant as hints, and none to any server: a blank stands before the plus.
    """

    verb: str
    is_first: bool
    begin: int
    end: int
    line: int
    column: int
    stray: tuple[str, ...] = ()
    nearly: bool = False
    is_closed: bool = True


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with hints: its text, where it begins, its comments of hints, and the hints."""

    file: str
    line: int
    text: str
    comments: tuple[Comment, ...]
    hints: tuple[Hint, ...]


def hint_setting(
    statement: Statement, hint: Hint | None, line: int | None = None, column: int | None = None
) -> Setting:
    """Where a hint stands, or (without one) where something at a line and column does."""
    line, column = (hint.line, hint.column) if hint else (line, column)
    name = hint.text if hint else "hints"
    return Setting("sql", statement.file, None, name, name, None, FROM_FILE, statement.file, line, column)


def statements(text: str, file: str) -> Iterator[Statement]:
    """The statements of a file that have hints, or comments that were meant as such."""
    begin = 0
    found: list[re.Match[str]] = []
    for token in TOKEN.finditer(text):
        if token["end"]:
            yield from _statement(text, file, begin, token.start(), found)
            begin, found = token.end(), []
        else:
            found.append(token)
    yield from _statement(text, file, begin, len(text), found)


def _statement(text: str, file: str, begin: int, end: int, tokens: list[re.Match[str]]) -> Iterator[Statement]:
    comments, hints = list[Comment](), list[Hint]()
    verb = ""
    for token in tokens:
        if token["word"]:
            verb = token["word"].lower()
        elif token["hint"] or token["open"] or (token["comment"] and NEARLY.match(token["comment"])):
            held = tuple(_hints(token, len(comments)))
            comments.append(_comment(token, verb, begin, held))
            hints += [one for one in held if isinstance(one, Hint)] if not comments[-1].nearly else []
    if comments:
        start = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
        yield Statement(file, text.count("\n", 0, start) + 1, text[begin:end], tuple(comments), tuple(hints))


def _comment(token: re.Match[str], verb: str, begin: int, held: tuple["Hint | str", ...]) -> Comment:
    text = token.string
    before = text[begin : token.start()]
    line, column = _place(text, token.start())
    return Comment(
        verb=verb if before.rstrip().lower().endswith(verb) else "",
        is_first=BEFORE_HINT.fullmatch(before) is not None,
        begin=token.start() - begin,
        end=token.end() - begin,
        line=line,
        column=column,
        stray=tuple(one for one in held if isinstance(one, str)),
        nearly=token["comment"] is not None,
        is_closed=token["open"] is None,
    )


def _hints(token: re.Match[str], comment: int) -> Iterator["Hint | str"]:
    """The hints of a comment; what is none comes as text."""
    body = token[0]
    place = body.index("+") + 1
    stop = len(body) - (2 if body.endswith("*/") else 0)
    while item := ITEM.search(body, place, stop):
        place = item.end()
        if item["other"]:
            yield item["other"]
            continue
        opening = re.compile(r"\s*\(").match(body, place, stop)
        inside, place, closed = _inside(body, opening.end(), stop) if opening else ("", place, True)
        line, column = _place(token.string, token.start() + item.start())
        arguments = _arguments(inside)
        block = next((one[1:] for one in arguments if one.startswith("@")), None)
        kept = tuple(one for one in arguments if not one.startswith("@"))
        yield Hint(item["name"], kept, block, comment, line, column, closed)


def _inside(body: str, place: int, stop: int) -> tuple[str, int, bool]:
    """What stands in a parenthesis that is open at a place, the place behind it, and whether it ends."""
    depth = 1
    for at in range(place, stop):
        depth += {"(": 1, ")": -1}.get(body[at], 0)
        if depth == 0:
            return body[place:at], at + 1, True
    return body[place:stop], stop, False


def _arguments(inside: str) -> tuple[str, ...]:
    """Arguments between blanks or commas; what is in parentheses or quotes of its own stays together."""
    return tuple(re.findall(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|'[^']*'|\"[^\"]*\"(?:@\S+)?|[^\s,()]+", inside))


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
