"""A text as a source, for tests of what a reader is made of."""

import io

from doctord.read.source import ReadOptions, SourceFile, source_of


def text_source(text: str, name: str = "text", options: ReadOptions | None = None) -> SourceFile:
    return source_of(io.BytesIO(text.encode() or b"\n"), name, options)
