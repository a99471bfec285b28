"""Text from data as plain words: harmless, and broken into lines only where it may be."""

from doctord.regex import regex

# Stands for a space at which a line must not break. No data hold it: `clean` leaves out what is not printable.
JOINT = "\ue000"
# A figure and its unit, a comparison and its figure.
TOGETHER = regex(r"(?<=\d) (?=\S)|(?<=[<>=~+±≤≥]) (?=\d)")


def clean(text: str) -> str:
    """Text from data made harmless: one line, without control or formatting characters."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def together(text: str) -> str:
    """Text with JOINT for each space between a figure and its unit."""
    return TOGETHER.sub(JOINT, text)
