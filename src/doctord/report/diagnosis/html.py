"""The diagnosis as one HTML file that needs nothing else: no network, no script, light and dark, on paper too."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from doctord.dataset.dataset import Dataset
from doctord.diagnose.finding import Diagnosis
from doctord.diagnose.phrase import Phrase, Words
from doctord.report import plain, wording
from doctord.report.diagnosis import holders, tops
from doctord.report.diagnosis.panels import panels
from doctord.report.phrases import said, threshold
from doctord.report.plot import svg
from doctord.units import number, quantity

NOT_MEASURED = "\u2013"
COLOURS = 10


def render(diagnosis: Diagnosis, dataset: Dataset, others: Sequence[Diagnosis] = ()) -> str:
    """The report of a diagnosis, with plots and tables of the dataset it was made from; `others` with their findings.

    The others are of other servers and times, and no worse.
    """
    shown = [(plot, Markup(svg(plot))) for plot in panels(dataset)]  # noqa: S704 - the serialiser of XML escaped it
    return (
        environment()
        .get_template("diagnosis/page.html.j2")
        .render(
            diagnosis=diagnosis,
            verdict=wording.verdict(diagnosis),
            groups=wording.grouped(diagnosis.findings),
            plots=shown,
            processes=tops.top_processes(dataset),
            statements=tops.top_statements(dataset),
            tree=tops.blocking_tree(dataset),
            overview_from=wording.OVERVIEW_FROM,
            colours=range(COLOURS),
            wording=wording,
            headline=holders.headline(diagnosis),
            holders=list(holders.rows(diagnosis)),
            others=list(others),
        )
    )


def environment() -> Environment:
    """Where the templates of this package are, and what they can use."""
    templates = Environment(
        loader=PackageLoader("doctord.report", "."),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        figure=_figure, bytes=_bytes, together=_together, number=number, text=said, threshold=threshold
    )
    return templates


def _harmless(value: object) -> object:
    """Text from data without control and formatting characters; escaping comes after."""
    if isinstance(value, Phrase):
        return plain.clean(said(value))
    return plain.clean(value) if type(value) is str else value


def _together(text: Words) -> Markup:
    """Text in which no line breaks between a figure and its unit; it can be copied as it was."""
    unbroken = Markup('<span class="unbroken">{}</span>')
    words = plain.together(plain.clean(said(text))).split(" ")
    return Markup(" ").join(
        unbroken.format(word.replace(plain.JOINT, " ")) if plain.JOINT in word else word for word in words
    )


def _figure(value: float | None) -> str:
    return NOT_MEASURED if value is None else number(value)


def _bytes(value: float | None) -> str:
    return NOT_MEASURED if value is None else quantity(value, "bytes")
