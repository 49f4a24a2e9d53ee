"""Progress and cancellation of long work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, cast


class Cancel(Protocol):
    """An object like :class:`threading.Event`, which ends long work when it is set."""

    def is_set(self) -> bool: ...


class TqdmBar(Protocol):
    """A bar of tqdm."""

    n: Any
    total: Any

    def update(self, n: Any, /) -> Any: ...


class RichProgress(Protocol):
    """A ``rich.progress.Progress``."""

    @property
    def add_task(self) -> Callable[..., Any]: ...
    @property
    def update(self) -> Callable[..., Any]: ...


Callback: TypeAlias = Callable[[int, "int | None"], object]
"""Called with what is done and with all there is to do, or None while that is unknown, up to fifty times per second."""

Progress: TypeAlias = "Callback | TqdmBar | RichProgress"
"""A callable, a bar of tqdm, or a ``Progress`` of rich."""


def callback(progress: Progress | None, name: str) -> Callback | None:
    """Returns the function that shows the progress of the work with this name."""
    if progress is None or callable(progress):
        return progress
    if hasattr(progress, "add_task"):
        return _of_rich(cast("RichProgress", progress), name)
    if hasattr(progress, "update") and hasattr(progress, "n"):
        # Both checkers narrow the type in their own way, and mypy needs no cast.
        bar: Any = progress
        return _of_tqdm(bar)
    kind = type(progress).__name__
    raise TypeError(f"progress: expected a callable, a bar of tqdm or a Progress of rich, found {kind}")


def _of_tqdm(bar: TqdmBar) -> Callback:
    def show(done: int, total: int | None) -> None:
        if total is not None:
            bar.total = total
        bar.update(done - bar.n)

    return show


def _of_rich(bars: RichProgress, name: str) -> Callback:
    task = bars.add_task(name, total=None)

    def show(done: int, total: int | None) -> None:
        bars.update(task, completed=done, total=total)

    return show
