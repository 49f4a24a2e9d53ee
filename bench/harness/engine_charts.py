"""Draws sha.svg and sha-lengths.svg: rates as bars, and as lines over message lengths."""

from collections.abc import Iterable, Sequence

from harness.engine_report import length
from harness.engine_samples import (
    ALGORITHMS,
    ENGINE,
    ENGINE_AVX2,
    MESSAGE_LEN,
    Group,
    Results,
    Row,
    ratio,
)
from harness.svg import INK, PALE, Drawing, ticks

WIDTH = 1280
PANEL = WIDTH // 2
TOP = 76
BAR_HEIGHT = 24
KINDS = {
    "engine": ("the engine, as it chooses", "#d1491b"),
    "kernel": ("one kernel of the engine", "#f0a86e"),
    "one_message": ("libraries, one message at a time", "#8a93a0"),
    "many_messages": ("libraries, many messages at a time", "#2f6db5"),
}
# The contenders that have a line.
LINES = {
    ENGINE: "#d1491b",
    ENGINE_AVX2: "#f0a86e",
    "ipsec-mb": "#2f6db5",
    "OpenSSL": "#222222",
    "aws-lc-rs": "#5b9e4d",
    "ring": "#9b59b6",
    "RustCrypto": "#9a9a9a",
}


def bar_chart(results: Results) -> str:
    """Return bars of every kernel and contender, for one message length."""
    groups = [group for group in results.groups("sizes") if group.message_len == MESSAGE_LEN]
    bars = [_bars(group) for group in groups]
    bottom = TOP + BAR_HEIGHT * max(map(len, bars))
    page = Drawing(WIDTH, bottom + 74)
    title = f"SHA-1 and SHA-256, many messages of {length(MESSAGE_LEN)}, one core"
    _head(page, results, title)
    for number, (group, rows) in enumerate(zip(groups, bars, strict=True)):
        _bar_panel(page, number * PANEL, bottom, group, rows)
    _legend(page, bottom + 59, KINDS.values())
    return str(page)


def _bars(group: Group) -> list[tuple[str, Row]]:
    """Return all rows, but only the fastest way to call OpenSSL and to run ipsec-mb."""
    names = {}
    for family, fastest in (("OpenSSL", group.openssl), ("ipsec-mb", group.ipsec_mb)):
        others = (row for row in group.rows if row.name.startswith(family))
        names |= {row.name: family if row is fastest else None for row in others}
    named = ((names.get(row.name, row.name), row) for row in group.rows)
    return [(name, row) for name, row in named if name]


def _bar_panel(
    page: Drawing, left: int, bottom: int, group: Group, rows: Sequence[tuple[str, Row]]
) -> None:
    begin, width = left + 170, PANEL - 170 - 24
    longest = 1.22 * max(row.median for _, row in rows)
    for tick in ticks(longest):
        x = begin + width * tick / longest
        page.path([(x, TOP), (x, bottom)], PALE)
        page.text((x, bottom + 12), f"{tick:g}", anchor="middle")
    page.path([(begin, TOP), (begin, bottom), (begin + width, bottom)], INK)
    title = f"{group.algorithm}, GB/s (times OpenSSL)"
    page.text((begin + width / 2, bottom + 31), title, size=15, anchor="middle")
    for number, (name, row) in enumerate(rows):
        y = TOP + BAR_HEIGHT * (number + 0.5)
        bar = width * row.median / longest
        page.bar((begin, y - 8.6), bar, 17.2, KINDS[row.kind][1])
        page.text((begin - 6, y), name, anchor="end")
        beside = ratio(row, group.openssl)
        times = f" ({beside.median:.2f})" if beside else ""
        page.text((begin + bar + 5, y), f"{row.median:.2f}{times}")


def line_chart(results: Results) -> str:
    """Return lines of the engine and the other libraries over message lengths."""
    page = Drawing(WIDTH, 560)
    title = "SHA-1 and SHA-256 by message length, many messages, one core"
    _head(page, results, title)
    for number, algorithm in enumerate(ALGORITHMS):
        _line_panel(page, number * PANEL, algorithm, results.of("sizes", algorithm))
    groups = results.groups("sizes")
    measured = (line for line in LINES.items() if any(_line_row(one, line[0]) for one in groups))
    _legend(page, 545, measured)
    return str(page)


def _line_row(group: Group, name: str) -> Row | None:
    if name.startswith(ENGINE):
        return group.row(name)
    return group.fastest(name)


def _line_panel(page: Drawing, left: int, algorithm: str, groups: Sequence[Group]) -> None:
    begin, width, top, bottom = left + 68, PANEL - 68 - 24, TOP + 20, 490
    lines = {
        name: [(i, row.median) for i, group in enumerate(groups) if (row := _line_row(group, name))]
        for name in LINES
    }
    longest = 1.08 * max(rate for points in lines.values() for _, rate in points)
    step = width / (len(groups) - 0.5)

    def at(i: float, rate: float) -> tuple[float, float]:
        return begin + step * (i + 0.25), bottom - (bottom - top) * rate / longest

    for tick in ticks(longest):
        y = at(0, tick)[1]
        page.path([(begin, y), (begin + width, y)], PALE)
        page.text((begin - 6, y), f"{tick:g}", anchor="end")
    page.path([(begin, top), (begin, bottom), (begin + width, bottom)], INK)
    page.text((begin, top - 12), f"{algorithm}, GB/s", size=15)
    for i, group in enumerate(groups):
        page.text((at(i, 0)[0], bottom + 14), length(group.message_len), anchor="middle")
    page.text((begin + width / 2, bottom + 32), "message length", size=15, anchor="middle")
    for name, points in lines.items():
        places = [at(*point) for point in points]
        page.path(places, LINES[name], width=2)
        for place in places:
            page.dot(place, LINES[name])


def _head(page: Drawing, results: Results, title: str) -> None:
    machine = results.data["machine"]
    quick = ", a quick run" if results.data["quick"] else ""
    origin = f"{machine['cpu']}, {results.ghz.median:.2f} GHz (measured), {machine['date']}"
    page.text((WIDTH / 2, 24), title, size=21, anchor="middle")
    origin = f"{origin}, commit {machine['commit']}{quick}"
    page.text((WIDTH / 2, 50), origin, size=14, anchor="middle")


def _legend(page: Drawing, y: float, entries: Iterable[tuple[str, str]]) -> None:
    entries = list(entries)
    for number, (name, colour) in enumerate(entries):
        x = 24 + number * (WIDTH // len(entries))
        page.bar((x, y - 7), 14, 14, colour)
        page.text((x + 20, y), name)
