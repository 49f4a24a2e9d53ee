"""Checks of arguments that several functions have."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    _Item = TypeVar("_Item")


def listed(items: Iterable[_Item], name: str) -> list[_Item]:
    """Returns the items of an argument.

    Raises
    ------
    TypeError
        The argument is one text or path, whose letters would be taken for items.
    """
    if isinstance(items, (str, bytes, bytearray)) or hasattr(items, "__fspath__"):
        raise TypeError(f"{name}: expected a list, found one {type(items).__name__}: write [{items!r}]")
    return list(items)
