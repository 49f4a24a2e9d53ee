"""Digests in expressions of polars. The import of this module registers the namespace ``hashlane``.

>>> import hashlane.polars, polars
>>> frame = polars.DataFrame({"name": ["one", None]})
>>> frame.select(polars.col("name").hashlane.hexdigest("sha1").str.head(8))["name"].to_list()
['fe05bcdc', None]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

try:
    import polars
except ImportError:
    raise ImportError("hashlane.polars needs polars: pip install polars pyarrow") from None

from hashlane._columns import digest_column

if TYPE_CHECKING:
    from hashlane._hashlane import _Algorithm, _Bytes


@polars.api.register_expr_namespace("hashlane")
class Digests:
    """The namespace ``hashlane`` of an expression, whose values are bytes or strings. Nulls stay nulls."""

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def digest(
        self, algorithm: _Algorithm = "sha256", *, key: _Bytes | None = None, prefix: _Bytes | None = None
    ) -> polars.Expr:
        """Returns the digests or MACs of the values as bytes. The arguments are those of :func:`hashlane.digest_many`."""
        return self._map("arrow", polars.Binary(), algorithm, key, prefix)

    def hexdigest(
        self, algorithm: _Algorithm = "sha256", *, key: _Bytes | None = None, prefix: _Bytes | None = None
    ) -> polars.Expr:
        """Returns the digests or MACs of the values in hexadecimal. The arguments are those of :func:`hashlane.digest_many`."""
        return self._map("hex", polars.String(), algorithm, key, prefix)

    def _map(
        self,
        returns: Literal["arrow", "hex"],
        kind: Any,
        algorithm: _Algorithm,
        key: _Bytes | None,
        prefix: _Bytes | None,
    ) -> polars.Expr:
        def digests(series: polars.Series) -> polars.Series:
            found = digest_column(series, algorithm, returns=returns, key=key, prefix=prefix)
            return polars.Series(series.name, polars.from_arrow(found), dtype=kind)

        return self._expression.map_batches(digests, return_dtype=kind)
