"""The table of goals in the reports of one file."""

from collections.abc import Iterator


def goal_table(*rows: str) -> Iterator[str]:
    """Return the lines of the table, with its heading."""
    yield from ("## Goals", "", "| what | measured | goal | |", "|---|---|---|---|", *rows)


def at_most(what: str, measured: float, limit: float, *, unit: str = "", digits: int = 2) -> str:
    """Return the row of a goal that the figure must not exceed."""
    goal = f"≤ {limit}{unit}"
    return _row(what, f"{measured:.{digits}f}{unit}", goal, is_met=measured <= limit)


def at_least(what: str, measured: float, limit: float, *, unit: str = "", digits: int = 2) -> str:
    """Return the row of a goal that the figure must reach."""
    goal = f"≥ {limit}{unit}"
    return _row(what, f"{measured:.{digits}f}{unit}", goal, is_met=measured >= limit)


def _row(what: str, measured: str, goal: str, *, is_met: bool) -> str:
    return f"| {what} | {measured} | {goal} | {'met' if is_met else 'NOT met'} |"
