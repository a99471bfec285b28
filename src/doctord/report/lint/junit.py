"""An examination of settings as JUnit XML: a suite for each subject, a case for each rule that looked at it."""

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from doctord.lint.engine import Examined
from doctord.lint.violation import Severity, Violation
from doctord.report.phrases import said
from doctord.report.plain import clean


def render(examined: Examined) -> str:
    """The XML. A violation above a note fails its case, a note is its output, an accepted one is skipped."""
    suites = Xml.Element("testsuites", name="doctord lint")
    for subject, rules in examined.checked.items():
        _suite(suites, subject, rules, examined)
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=True)


def _suite(suites: Xml.Element, subject: str, rules: Sequence[str], examined: Examined) -> None:
    suite = Xml.SubElement(suites, "testsuite", name=clean(subject), tests=str(len(rules)))
    failures = skipped = 0
    for rule in rules:
        case = Xml.SubElement(suite, "testcase", classname=clean(subject), name=rule)
        told = [one for one in examined.violations if (one.rule, one.subject) == (rule, subject)]
        bad = [one for one in told if one.severity > Severity.NOTE]
        excused = [reason for one, reason in examined.accepted if (one.rule, one.subject) == (rule, subject)]
        if bad:
            failures += 1
            failure = Xml.SubElement(case, "failure", type=bad[0].severity.word, message=clean(said(bad[0].title)))
            failure.text = "\n\n".join(map(_text, bad))
        elif excused:
            skipped += 1
            Xml.SubElement(case, "skipped", message=clean(excused[0]))
        elif told:
            Xml.SubElement(case, "system-out").text = "\n\n".join(map(_text, told))
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))


def _text(violation: Violation) -> str:
    where = [f"At: {setting.where}" for setting in violation.settings if setting.where]
    title, cost, fix, verify = map(said, (violation.title, violation.cost, violation.fix, violation.verify))
    lines = (title, f"Cost: {cost}", *where, f"Fix: {fix}", f"Verify: {verify}")
    return "\n".join(clean(line) for line in lines)
