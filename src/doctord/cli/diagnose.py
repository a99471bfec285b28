"""`doctord diagnose`: the same verdict on what was recorded, or on the files that other tools left."""

from typing import Annotated

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Html, Json, Library, Measured, OfFiles, Past, PrometheusNamed, When, flag
from doctord.errors import UserError
from doctord.report.files import check_writable, write


@command(app)
def diagnose(
    *,
    measured: Measured,
    prometheus: PrometheusNamed = None,
    when: When,
    past: Past = "1d",
    find: Annotated[
        bool,
        flag(
            "Say when it was bad: find the intervals in which clients waited longer; of a lake in the last day.",
            "--find",
        ),
    ] = False,
    library: Library = None,
    files: OfFiles,
    html: Html = None,
    json: Json = False,
) -> int:
    """Say what was wrong: in an interval that was recorded, or in what files of other tools or a Prometheus tell.

    Files of one host and time are judged together: `doctord diagnose awr_1.html awr_2.html sa15 iostat.log`. What is of
    another host or time is judged for itself, the worst first.

    Exit status: 0 no finding above a note, 1 a warning or worse, 2 nothing could be judged, or a wrong option.
    """
    from doctord.app import diagnose as diagnosing
    from doctord.app.incidents import find as searching
    from doctord.app.incidents.library import place_of
    from doctord.report import incidents as words
    from doctord.report.diagnosis import examination

    check_writable(html)
    source = measured.asked_of(prometheus) if prometheus else measured.source(files)
    place = place_of(measured.lake, library)
    if find:
        if html:
            raise UserError(
                "--find makes no page", "doctord diagnose --from MOMENT --to MOMENT --html FILE, of what it finds"
            )
        return show(searching.find(source, when.interval(past), place, Terminal()), words, json=json)
    found = diagnosing.diagnose(source, when.interval(past), Terminal(), library=place)
    if html:
        write(html, examination.page(found))
    return show(found, examination, json=json)
