"""`doctord diagnose`: the same verdict on what was recorded, or on the files that other tools left."""

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Html, Json, Measured, OfFiles, Past, PrometheusNamed, When
from doctord.report.files import check_writable, write


@command(app)
def diagnose(
    *,
    measured: Measured,
    prometheus: PrometheusNamed = None,
    when: When,
    past: Past = "1d",
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
    from doctord.report.diagnosis import examination

    check_writable(html)
    source = measured.asked_of(prometheus) if prometheus else measured.source(files)
    found = diagnosing.diagnose(source, when.interval(past), Terminal())
    if html:
        write(html, examination.page(found))
    return show(found, examination, json=json)
