"""The page in a real browser: every part is drawn, its script works, and it asks for nothing."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sample_run import RUN
from searched_run import LONG, SEARCHED
from support.browser import Opened, browser, opened
from test_tables import BOTH, TARGETS, tables

from annotune.report.html import report_html
from annotune.report.summary import COLUMNS, PEOPLE_SAY
from annotune.report.table_page import tables_html
from annotune.tuning.results import ROW_NAMES

pytestmark = pytest.mark.slow  # a browser takes longer than all that make its page

# What a page is asked once it stands: it clicks on every head of the first table of trials, looks
# for text outside its drawing, over other text or beyond the window's edge, for tables that ought
# to fit and do not, and for text that is hard to tell from what is behind it.
PROBE = """
<script>
const found = { columns: {}, outside: [], over: [], cut: [], flat: [] };
found.begins = [...document.querySelectorAll("h1, .overview")]
  .map((one) => one.getBoundingClientRect().bottom);
const table = document.querySelector("table.sortable");
for (const button of table?.querySelectorAll("button.sort") ?? []) {
  const orders = [];
  for (const click of [1, 2]) {
    button.click();
    orders.push([...table.tBodies[0].rows].map((row) => Number(row.cells[0].textContent)));
  }
  found.columns[button.textContent] = orders;
}
for (const part of document.querySelectorAll("details")) part.open = true;
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect();
  for (const mark of svg.querySelectorAll("text, circle, path, rect, line, polyline")) {
    const own = mark.getBoundingClientRect();
    if (own.left < box.left - 2 || own.right > box.right + 2 || own.top < box.top - 2 ||
        own.bottom > box.bottom + 2)
      found.outside.push(`${svg.getAttribute("aria-label")}: ${mark.outerHTML}`);
  }
  const texts = [...svg.querySelectorAll("text")];
  texts.forEach((one, number) => {
    const a = one.getBoundingClientRect();
    for (const other of texts.slice(number + 1)) {
      const b = other.getBoundingClientRect();
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      // The boxes of lines below one another touch; letters do not.
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > a.height / 3)
        found.over.push(`${one.textContent} over ${other.textContent}`);
    }
  });
}
// What stands in a box of its own may be wider than the window: that box scrolls.
const boxes = "pre, .wide";
for (const node of document.body.querySelectorAll("*"))
  if (!node.matches("script, title") && !node.parentElement.closest(boxes) &&
      node.getBoundingClientRect().right > innerWidth + 1)
    found.cut.push(node.outerHTML.slice(0, 90));
for (const box of document.querySelectorAll(".wide")) {
  if (getComputedStyle(box).overflowX !== "auto") found.cut.push(box.outerHTML.slice(0, 90));
  if (box.querySelector("table.fold, svg") && box.scrollWidth > box.clientWidth + 1)
    found.cut.push(`${box.scrollWidth} in ${box.clientWidth}: ${box.outerHTML.slice(0, 90)}`);
}
// Relative luminance and contrast as WCAG 2 defines them.
const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const luminance = (colour) => {
  const [r, g, b] = channels(colour).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
  for (let one = node; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (channels(colour)[3] !== 0) return colour;
  }
  return "rgb(255, 255, 255)";
};
for (const node of document.body.querySelectorAll("*")) {
  const isText = [...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!isText || node.matches("script, title")) continue;
  const style = getComputedStyle(node);
  const colour = node.closest("svg") ? style.fill : style.color;
  const [a, b] = [luminance(colour), luminance(behind(node))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) found.flat.push(`${contrast.toFixed(2)}: ${node.outerHTML.slice(0, 90)}`);
}
found.overflow = document.documentElement.scrollWidth - innerWidth;
found.ground = getComputedStyle(document.body).backgroundColor;
const answer = document.createElement("pre");
answer.id = "answer";
answer.textContent = JSON.stringify(found);
document.body.append(answer);
</script>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    browser()
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_html(SEARCHED))
    return path


@pytest.fixture(scope="module")
def shown(page: Path) -> Opened:
    return opened(page)


def probed(page: Path, text: str, name: str, width: int, is_dark: bool) -> tuple[Any, Opened]:
    """Return what the probe found on a page, and the page."""
    path = page.parent / f"{name}.html"
    path.write_text(text.replace("</body>", f"{PROBE}</body>"))
    found = opened(path, width, is_dark)
    answer = re.search(r'<pre id="answer">(.*?)</pre>', found.dom, re.DOTALL)
    assert answer is not None, found.console
    return json.loads(unescape(answer.group(1))), found


def test_it_opens_alone_and_without_complaint(shown: Opened) -> None:
    assert shown.requests == ()
    assert shown.console == ()


def test_every_part_is_shown(shown: Opened) -> None:
    for words in (
        *(PEOPLE_SAY[name] for name in ROW_NAMES),
        *COLUMNS,
        "measured on AMD EPYC 9534, 8 threads",
        "predicted for NVIDIA H200",
        "gp, seed 7",
        "80 of 4536 legal points",
        "75 points in 64.2 s",
        "3 points with the program of another",
        "2 points known from an earlier run",
        "schedule: no program depends on it",
        "Convergence",
        "Model against measurement",
        "Spearman's rank correlation 0.99",
        "Importance of parameters",
        "which explains 9",
        "How to read it",
        "Model against measurement: not available because no model predicts it.",
    ):
        assert words in unescape(shown.dom), words
    labels = re.findall(r'aria-label="([^"]*)"', shown.dom)
    assert labels.count("Convergence") == 1
    assert labels.count("Importance of parameters") == 2
    assert {"Roofline plot", "Bars of the rows, longer is faster"} <= set(labels)
    # The script has given every head a button.
    assert shown.dom.count('class="sort"') == 10
    assert '<span class="k">__global__</span>' in shown.dom


def test_every_trial_is_shown_with_its_whole_text(shown: Opened) -> None:
    texts = [unescape(row) for row in re.findall(r"<tr class=[^>]*><td.*?</tr>", shown.dom, re.S)]
    assert len(texts) == len(LONG.trials)
    for text, trial in zip(texts, LONG.trials, strict=True):
        assert f">{trial.status}</td>" in text
        assert trial.reason.strip() in text


@pytest.mark.alike(4)
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 500])
def test_it_sorts_and_can_be_read(page: Path, width: int, is_dark: bool) -> None:
    found, _ = probed(page, page.read_text(), f"probed-{width}-{is_dark}", width, is_dark)
    assert found["outside"] == []
    assert found["over"] == []
    assert found["cut"] == []
    assert found["flat"] == []
    assert found["overflow"] <= 0
    assert (found["ground"] == "rgb(21, 24, 27)") == is_dark
    # The headline and the line of each region are on the first screen.
    assert max(found["begins"]) < 600

    trials = LONG.trials

    def group(number: int) -> tuple[bool, bool]:
        trial = trials[number - 1]
        return trial.time_s is None, trial.is_predicted

    rising, falling = found["columns"]["time"]
    for order, sign in ((rising, 1), (falling, -1)):
        assert sorted(order) == list(range(1, len(trials) + 1))
        # Measured ones first, then predicted ones, then what has no time.
        keys = [(*group(n), sign * (trials[n - 1].time_s or 0)) for n in order]
        assert keys == sorted(keys)
    statuses = [str(trials[n - 1].status) for n in found["columns"]["status"][0]]
    assert statuses == sorted(statuses)
    numbers = found["columns"]["#"]
    assert numbers == [sorted(rising), sorted(rising, reverse=True)]


def test_the_page_of_a_suite_can_be_read_in_a_narrow_window(page: Path) -> None:
    wishes = ((name, BOTH, TARGETS) for name in ("versions", "speedups", "curve"))
    # Its policy allows no script, and so no question.
    text = tables_html(tables(*wishes)).replace("default-src 'none'; ", "")
    found, _ = probed(page, text, "tables", 500, is_dark=False)
    assert found["overflow"] <= 0
    for kind in ("outside", "over", "cut", "flat"):
        assert found[kind] == []


def test_hostile_words_do_nothing(page: Path) -> None:
    found, seen = probed(page, report_html(RUN), "hostile", 1300, is_dark=False)
    assert (seen.requests, seen.console) == ((), ())
    for kind in ("outside", "over", "cut", "flat"):
        assert found[kind] == []


def test_the_browser_would_notice(page: Path) -> None:
    bad = (
        "<script>document.querySelector('table').broken.thing()</script>"
        '<img src="http://example.invalid/x.png">'
        '<svg viewBox="0 0 9 9" aria-label="x"><text x="-99">out</text></svg>'
        '<svg viewBox="0 0 99 99"><text y="50">one</text><text y="52">other</text></svg>'
        '<div class="wide"><table class="fold"><tr><td><pre style="width: 2000px">x</pre></table>'
        "</div>"
        '<p style="color: #bbb; background: #ccc; width: 5000px">hard to read</p>'
    )
    text = report_html(RUN).replace("default-src 'none'; ", "")
    text = text.replace("</body>", f"{bad}</body>")
    probe, found = probed(page, text, "bad", 1300, is_dark=False)
    assert found.requests == ("http://example.invalid/x.png",)
    assert any("Uncaught TypeError" in line for line in found.console)
    assert len(probe["outside"]) == 1
    assert probe["over"] == ["one over other"]
    assert len(probe["cut"]) == 2
    assert len(probe["flat"]) == 1
    assert probe["overflow"] > 0
