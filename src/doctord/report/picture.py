"""A picture of boxes, lines and words, as SVG or as PNG: drawn once, so that both show the same.

PNG is drawn with Pillow: since 1995 (as PIL), released four times a year, licence MIT-CMU, one wheel without other
dependencies, and since 10.1 with a font of its own (Aileron, CC0). resvg-py would draw the SVG itself, but has no font:
on a server without any, words would be missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from doctord.report.palettes import Rgb
from doctord.report.plain import clean

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

WHITE: Rgb = (255, 255, 255)
FONT = "Aileron, system-ui, sans-serif"
# A PNG has so many pixels per unit: sharp on screens of today, and when it is printed.
PIXELS = 2
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


@dataclass(frozen=True, slots=True)
class Boxes:
    """Filled rectangles of one colour, each x, y, width, height; coordinates are multiples of a half."""

    places: Sequence[tuple[float, float, float, float]]
    colour: Rgb


@dataclass(frozen=True, slots=True)
class Lines:
    """Straight lines of one colour, each from x, y to x, y."""

    places: Sequence[tuple[float, float, float, float]]
    colour: Rgb


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text whose foot stands at y, and which starts, ends, or has its middle at x."""

    x: float
    y: float
    text: str
    size: float = 12
    anchor: Literal["start", "middle", "end"] = "start"
    colour: Rgb = (27, 31, 36)


@dataclass(slots=True)
class Picture:
    """What is to be drawn, the undermost first; `title` and `words` say it to who cannot see it."""

    width: int
    height: int
    title: str
    words: str = ""
    shapes: list[Boxes | Lines | Words] = field(default_factory=list)


def svg(picture: Picture) -> str:
    """The picture as an SVG file of its own."""
    size = {"width": str(picture.width), "height": str(picture.height)}
    box = {"viewBox": f"0 0 {picture.width} {picture.height}", "font-family": FONT}
    root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"} | size | box)
    SubElement(root, "title").text = clean(picture.title)
    SubElement(root, "desc").text = clean(picture.words)
    SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    for shape in picture.shapes:
        _element(root, shape)
    return tostring(root, encoding="unicode")


def _element(root: Element, shape: Boxes | Lines | Words) -> None:
    colour = "#{:02x}{:02x}{:02x}".format(*shape.colour)
    if isinstance(shape, Words):
        place = {"x": f"{shape.x:g}", "y": f"{shape.y:g}", "font-size": f"{shape.size:g}", "text-anchor": shape.anchor}
        SubElement(root, "text", place | {"fill": colour}).text = clean(shape.text)
    elif isinstance(shape, Boxes):
        path = "".join(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z" for x, y, width, height in shape.places)
        SubElement(root, "path", {"d": path, "fill": colour, "shape-rendering": "crispEdges"})
    else:
        path = "".join(f"M{x:g} {y:g}L{x2:g} {y2:g}" for x, y, x2, y2 in shape.places)
        SubElement(root, "path", {"d": path, "stroke": colour, "fill": "none"})


def png(picture: Picture) -> bytes:
    """The picture as a PNG file."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 - only who wants a PNG waits for it

    image = Image.new("RGB", (picture.width * PIXELS, picture.height * PIXELS), WHITE)
    drawing = ImageDraw.Draw(image)
    for shape in picture.shapes:
        _draw(drawing, shape)
    written = BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


def _draw(drawing: "ImageDraw", shape: Boxes | Lines | Words) -> None:
    from PIL import ImageFont  # noqa: PLC0415

    if isinstance(shape, Words):
        font = ImageFont.load_default(shape.size * PIXELS)
        place = (shape.x * PIXELS, shape.y * PIXELS)
        drawing.text(place, clean(shape.text), fill=shape.colour, font=font, anchor=ANCHORS[shape.anchor])
        return
    for x, y, third, fourth in shape.places:
        if isinstance(shape, Boxes):
            # Pillow counts the last pixel in.
            corner = ((x + third) * PIXELS - 1, (y + fourth) * PIXELS - 1)
            drawing.rectangle(((x * PIXELS, y * PIXELS), corner), fill=shape.colour)
        else:
            ends = ((x * PIXELS, y * PIXELS), (third * PIXELS, fourth * PIXELS))
            drawing.line(ends, fill=shape.colour, width=PIXELS)
