"""Goals: figures with limits, and their table."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.tables import table


@dataclass(frozen=True)
class Goal:
    """One goal; `met` is None if its figures were not measured. `detail` is a second figure."""

    text: str
    limit: str
    measured: str
    detail: str
    met: bool | None


def at_most(
    text: str, measured: float | None, limit: float, *, unit: str = "", detail: str = ""
) -> Goal:
    """Return a goal that the figure must not exceed."""
    met = None if measured is None else measured <= limit
    return _goal(text, measured, f"at most {limit:.2f}{unit}", unit, detail, met)


def at_least(
    text: str, measured: float | None, limit: float, *, unit: str = "", detail: str = ""
) -> Goal:
    """Return a goal that the figure must reach."""
    met = None if measured is None else measured >= limit
    return _goal(text, measured, f"at least {limit:.2f}{unit}", unit, detail, met)


def _goal(
    text: str, measured: float | None, limit: str, unit: str, detail: str, met: bool | None
) -> Goal:
    shown = "-" if measured is None else f"{measured:.3f}{unit}"
    return Goal(text, limit, shown, detail, met)


def goal_section(goals: Sequence[Goal], text: str = "", detail: str = "") -> Iterator[str]:
    """Return the section of the goals. `detail` is the heading of the second figure."""
    met = sum(goal.met is True for goal in goals)
    unknown = sum(goal.met is None for goal in goals)
    suffix = f", {unknown} not measured" if unknown else ""
    yield from (f"## Goals: {met} of {len(goals)} met{suffix}", "")
    if text:
        yield from (text, "")
    yield from goal_table(goals, detail)


def goal_table(goals: Iterable[Goal], detail: str = "") -> Iterator[str]:
    """Return the table of the goals."""
    verdicts = {True: "met", False: "**NOT met**", None: "not measured"}
    rows = [
        [goal.text, goal.limit, goal.measured, goal.detail, verdicts[goal.met]] for goal in goals
    ]
    header = ["goal", "limit", "measured", detail, ""]
    if not detail:
        header, rows = _without_detail(header), [_without_detail(row) for row in rows]
    yield from table(header, rows)


def _without_detail(cells: list[str]) -> list[str]:
    return [*cells[:3], *cells[4:]]


def print_goals(goals: Iterable[Goal]) -> None:
    """Print the verdicts."""
    for goal in goals:
        verdict = {True: "met", False: "NOT MET", None: "not measured"}[goal.met]
        print(f"{verdict:12} {goal.text}: {goal.measured}, {goal.limit}")
