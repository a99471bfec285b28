"""Somebody who reads the page of `doctord serve` in a browser: sees labels, and clicks on them."""

import json

from browser import Page

# What is seen and can be clicked, in the order of the page.
CLICKABLE = """
(inside => [...document.querySelectorAll(`${inside} :is(a, button, summary)`)]
    .filter(one => one.checkVisibility() && !one.disabled))
"""


class Reader:
    """Reads and clicks; knows no more of the page than what is to be seen on it."""

    def __init__(self, page: Page, address: str) -> None:
        """Read with this browser what is at an address."""
        self.page, self.address = page, address

    def open(self, place: str = "", *, width: int = 1280, dark: bool = False, settled: bool = True) -> None:
        """Open a place of the page, and wait for what it shows."""
        self.page.errors.clear()
        self.page.logged.clear()
        self.page.open(f"{self.address}/{place}", width, 900, dark=dark)
        if settled:
            self.settle()

    def settle(self) -> None:
        """Wait until nothing is on its way; what a click asks for, is asked when the next frame was drawn."""
        self.page.value("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        self.page.wait("document.querySelector('main') && !document.querySelector('main [data-waiting]')")

    def click(self, label: str, inside: str = "body") -> None:
        """Click on the first thing that has this label."""
        self._click(f"one => one.textContent.includes({json.dumps(label)})", f"{label!r} in {inside}", inside)
        self.settle()

    def click_first(self, inside: str) -> str:
        """Click on the first thing in a part of the page; its label."""
        label = self._click("() => true", f"anything in {inside}", inside)
        self.settle()
        return label

    def _click(self, fits: str, what: str, inside: str) -> str:
        found = self.page.value(f"""(async () => {{
            const found = {CLICKABLE}({json.dumps(inside)}).find({fits});
            if (!found) return null;
            found.scrollIntoView({{ block: "center", behavior: "instant" }});
            // The first line of its label, as between two lines there is no link. What comes late may push it away:
            // it has to stand still.
            let seen = found.getClientRects()[0];
            for (let still = 0; still < 5; ) {{
                await new Promise(requestAnimationFrame);
                const now = found.getClientRects()[0];
                still = now.top === seen.top && now.left === seen.left ? still + 1 : 0;
                seen = now;
            }}
            return [seen.left + seen.width / 2, seen.top + seen.height / 2, found.innerText];
        }})()""")
        assert found, f"there is nothing to click: {what}"
        self.page.click(found[0], found[1])
        return str(found[2])

    def text(self, selector: str = "main") -> str:
        """What stands in a part of the page."""
        return self.page.text(selector)
