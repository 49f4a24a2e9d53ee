#!/usr/bin/env python3
"""Draws the pictures of the book in docs/images: charts of recorded results, and how lanes work.

No figure of a chart is written by hand: `python3 bench/book.py` reads the records in this folder,
and bench/tests.py compares the pictures with them.
"""

from pathlib import Path

from harness.engine_charts import bar_chart, line_chart
from harness.engine_samples import Results
from harness.report import Report
from harness.svg import INK, PALE, Drawing

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
OURS, OTHERS = "#d1491b", "#8a93a0"
# A colour for each message, pale enough for text.
MESSAGES = (
    "#f2b5a7",
    "#fad7a8",
    "#a9c7ee",
    "#b9dfb0",
    "#d9c2ea",
    "#f0e29c",
    "#b5e0e8",
    "#d0d0d0",
)


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    engine = Results.read(HERE / "epyc" / "sha.json")
    return {
        "torrent-tools.svg": tools_chart(Report.read(HERE / "epyc" / "results.json")),
        "kernels.svg": bar_chart(engine),
        "kernels-lengths.svg": line_chart(engine),
        "ladder.svg": (HERE / "ladder.svg").read_text(encoding="utf-8"),
        "lanes.svg": lanes(),
        "refill.svg": refill(),
    }


def tools_chart(report: Report) -> str:
    """Return bars of the time in which each tool verifies the same torrent."""
    suite = next(suite for suite in report.suites if suite.key == "classic")
    series = [one for one in suite.series if one.samples]
    left, width, row, top = 270, 520, 24, 62
    drawing = Drawing(left + width + 90, top + row * len(series) + 16)
    title = f"Seconds to read and hash {report.scale.classic_bytes:,} bytes, from the page cache"
    drawing.text((10, 20), title, size=16)
    machine = report.machine
    origin = f"{machine['CPU']}, {machine['date']}, commit {machine['commit']}, medians"
    drawing.text((10, 43), origin, size=13)
    longest = max(one.median for one in series)
    for number, one in enumerate(series):
        y = top + row * (number + 0.5)
        bar = width * one.median / longest
        drawing.text((left - 8, y), one.label, anchor="end")
        colour = OURS if one.label.startswith("hashlane") else OTHERS
        drawing.bar((left, y - 8), bar, 16, colour)
        drawing.text((left + bar + 6, y), f"{one.median:.3f}")
    return str(drawing)


def lanes() -> str:
    """Return one message in a register beside eight messages in a vector register."""
    drawing = Drawing(760, 380)
    side, step = 40, 46
    drawing.text((20, 24), "One message: each round waits for the round before", size=16)
    for number in range(6):
        x = 170 + number * 92
        drawing.bar((x, 52), side, side, MESSAGES[0])
        drawing.text((x + side / 2, 72), f"a{number}", anchor="middle")
        if number:
            drawing.path([(x - 50, 72), (x - 4, 72)], INK, width=2)
    drawing.text((20, 72), "a 32-bit register")
    drawing.text(
        (20, 140), "Eight messages: the same instruction works on one word of each", size=16
    )
    for line in range(4):
        y = 164 + line * 50
        drawing.text((20, y + side / 2), f"round {line}")
        drawing.path([(166, y - 3), (166 + 8 * step + 2, y - 3)], PALE)
        for lane, colour in enumerate(MESSAGES):
            drawing.bar((170 + lane * step, y), side, side, colour)
            drawing.text((170 + lane * step + side / 2, y + side / 2), f"a{line}", anchor="middle")
    for lane in range(8):
        drawing.text((170 + lane * step + side / 2, 368), f"lane {lane}", size=11, anchor="middle")
    drawing.text((560, 184), "one 256-bit register,")
    drawing.text((560, 202), "one instruction per step")
    return str(drawing)


def refill() -> str:
    """Return four lanes, each of which takes the next message when its message ends."""
    lengths = ((6, 5, 4), (3, 3, 5, 4), (9, 6), (4, 7, 2, 2))
    drawing = Drawing(760, 270)
    drawing.text((20, 24), "A lane takes the next message as soon as its message ends", size=16)
    left, unit, number = 90, 40, 0
    starts = sorted(
        (sum(row[:i]), lane, length)
        for lane, row in enumerate(lengths)
        for i, length in enumerate(row)
    )
    for number, (start, lane, length) in enumerate(starts, 1):
        y = 52 + lane * 44
        colour = MESSAGES[number % len(MESSAGES)]
        drawing.bar((left + start * unit, y), length * unit - 3, 36, colour)
        drawing.text(
            (left + (start + length / 2) * unit, y + 18),
            f"message {number}",
            size=12,
            anchor="middle",
        )
    for lane in range(len(lengths)):
        drawing.text((20, 70 + lane * 44), f"lane {lane}")
    drawing.path([(left, 236), (left + 15 * unit, 236)], INK, width=2)
    drawing.text((left, 254), "time, in blocks of 64 bytes")
    return str(drawing)


if __name__ == "__main__":
    for name, text in pictures().items():
        (IMAGES / name).write_text(text, encoding="utf-8")
