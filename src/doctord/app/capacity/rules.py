"""Figures and thresholds from their files: Doctor D's own, which lie in the package, and the user's."""

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from doctord.analyse.capacity.thresholds import threshold
from doctord.analyse.capacity.thresholds.threshold import Rules
from doctord.dataset import figure
from doctord.dataset.figure import Figure, own_figures
from doctord.errors import UserError


@lru_cache(maxsize=1)
def own_rules() -> Rules:
    """The thresholds that hold when the user has none."""
    own = files("doctord.analyse.capacity.thresholds").joinpath("thresholds.toml").read_text(encoding="utf-8")
    return threshold.parsed(own, "thresholds.toml", own_figures())


def figures_of(path: Path | None) -> tuple[Figure, ...]:
    """The figures that Doctor D keeps, and those of a user's file.

    Raises:
        UserError: the file is not of the form of `figures.toml`, or gives a name anew.
    """
    given = figure.parsed(_text(path), str(path)) if path else ()
    known = {one.name for one in own_figures()}
    for one in given:
        if one.name in known:
            raise UserError(f"{path}: figure {one.name!r}: doctord has one of that name", "give it another")
    return (*own_figures(), *given)


def rules_of(path: Path | None) -> Rules:
    """The thresholds of a user's file, with its levels and figures, or else Doctor D's own.

    Raises:
        UserError: it cannot be read or is not of that form; the message names file, threshold and key.
    """
    return threshold.parsed(_text(path), str(path), own_figures()) if path else own_rules()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}", "name a TOML file that you may read") from error
