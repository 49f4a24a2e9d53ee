"""Drawings in SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, log10

INK = "#222"
PALE = "#ddd"
Point = tuple[float, float]


class Drawing:
    """A white page with shapes."""

    def __init__(self, width: int, height: int) -> None:
        """Create an empty page."""
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="sans-serif" fill="{INK}">',
            '<rect width="100%" height="100%" fill="white"/>',
        ]

    def text(self, at: Point, text: str, *, size: int = 13, anchor: str = "start") -> None:
        """Write a line whose middle is at the height of the point."""
        self._parts.append(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size}" text-anchor="{anchor}"'
            f' dominant-baseline="central">{escape(text)}</text>'
        )

    def bar(self, at: Point, width: float, height: float, colour: str) -> None:
        """Fill a rectangle."""
        self._parts.append(
            f'<rect x="{at[0]:.1f}" y="{at[1]:.1f}" width="{width:.1f}" height="{height:.1f}"'
            f' fill="{colour}"/>'
        )

    def path(self, points: Sequence[Point], colour: str, *, width: int = 1) -> None:
        """Join points by straight lines."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        )

    def dot(self, at: Point, colour: str) -> None:
        """Draw a small disc."""
        self._parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3" fill="{colour}"/>')

    def __str__(self) -> str:
        """Return the file."""
        return "\n".join([*self._parts, "</svg>", ""])


def ticks(longest: float, most: int = 8) -> Iterator[float]:
    """Return round numbers from 0 to a figure, for the labels of an axis."""
    rough = longest / most
    power = 10 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    yield from (number * step for number in range(int(longest / step) + 1))
