"""Tables in Markdown, and the heading of the smaller reports."""

from collections.abc import Iterable, Iterator, Sequence

from harness import machine


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table and an empty line. Columns of figures are aligned right."""
    rows = list(rows)
    columns = range(len(header))
    is_right = [i > 0 and _is_figures([row[i] for row in rows]) for i in columns]
    for cells in (header, ["---:" if right else "---" for right in is_right], *rows):
        yield f"| {' | '.join(cells)} |"
    yield ""


def page(title: str, target: str, text: str, *parts: Iterable[str]) -> str:
    """Return a report with its origin."""
    origin = f"`cargo xtask {target}` wrote this file. {text} {machine.summary()}."
    lines = [f"# {title}", "", origin, ""]
    for part in parts:
        lines += part
    return "\n".join(lines).rstrip("\n") + "\n"


def _is_figures(cells: Sequence[str]) -> bool:
    return all(cell[:1].isdigit() or cell in ("-", "") for cell in cells) and any(cells)
