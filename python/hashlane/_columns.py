"""Digests of the values of a column: of Arrow, polars or pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from hashlane import _hashlane

if TYPE_CHECKING:
    import numpy
    import pyarrow

    from hashlane._hashlane import _Algorithm, _Bytes
    from hashlane._progress import Cancel

    _Options = Any


@overload
def digest_column(
    column: Any,
    algorithm: _Algorithm = "sha256",
    *,
    returns: Literal["arrow", "hex"] = "arrow",
    key: _Bytes | None = None,
    prefix: _Bytes | None = None,
    threads: int | None = None,
    cancel: Cancel | None = None,
) -> pyarrow.Array: ...
@overload
def digest_column(
    column: Any,
    algorithm: _Algorithm = "sha256",
    *,
    returns: Literal["numpy"],
    key: _Bytes | None = None,
    prefix: _Bytes | None = None,
    threads: int | None = None,
    cancel: Cancel | None = None,
) -> numpy.ndarray[Any, Any]: ...
def digest_column(
    column: Any,
    algorithm: _Algorithm = "sha256",
    *,
    returns: Literal["arrow", "hex", "numpy"] = "arrow",
    key: _Bytes | None = None,
    prefix: _Bytes | None = None,
    threads: int | None = None,
    cancel: Cancel | None = None,
) -> Any:
    """Returns the digests or MACs of the values of a column. Strings are hashed as UTF-8, and nulls stay nulls.

    Parameters
    ----------
    column : Arrow array, series of polars or pandas, or iterable
        Values of a type of bytes or strings: an object of ``pyarrow``, or one that ``pyarrow.array`` makes an array of.
    algorithm : str or constructor
        A name of ``algorithms_available``, or a constructor such as ``hashlib.sha256``.
    returns : {"arrow", "hex", "numpy"}
        Type of the result: an array of ``fixed_size_binary``, an array of hexadecimal strings, or a matrix of NumPy with a row of
        ``uint8`` for each value, which has no nulls.
    key, prefix, threads, cancel
        As for :func:`digest_many`.

    Raises
    ------
    TypeError
        The values are neither bytes nor strings.
    ValueError
        A value is null, and the result is a matrix of NumPy.
    hashlane.Cancelled
        ``cancel`` was set.

    Examples
    --------
    >>> import pyarrow
    >>> digest_column(pyarrow.array(["one", None]), returns="hex").to_pylist()[1] is None
    True
    """
    import numpy
    import pyarrow

    if returns not in ("arrow", "hex", "numpy"):
        raise ValueError(f"returns: expected 'arrow', 'hex' or 'numpy', found {returns!r}")
    array = _array_of(column)
    values = array.drop_null()
    digest_len = len(_hashlane.digest_many([b""], algorithm, key=key, prefix=prefix)[0])
    digests = numpy.empty((len(values), digest_len), numpy.uint8)
    _hashlane.digest_many(values, algorithm, key=key, prefix=prefix, threads=threads, out=digests, cancel=cancel)
    if returns == "numpy":
        if len(values) < len(array):
            raise ValueError(f"{len(array) - len(values)} values are null: a matrix has no nulls")
        return digests
    found: Any
    if returns == "arrow":
        kind = pyarrow.binary(digest_len)
        found = pyarrow.FixedSizeBinaryArray.from_buffers(kind, len(values), [None, pyarrow.py_buffer(digests)])
    else:
        text = digests.tobytes().hex().encode()
        offsets = numpy.arange(len(values) + 1, dtype=numpy.int64) * (2 * digest_len)
        buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(text)]
        found = pyarrow.LargeStringArray.from_buffers(len(values), *buffers[1:])
    if len(values) == len(array):
        return found
    is_valid = numpy.asarray(array.is_valid())
    places = numpy.cumsum(is_valid) - 1
    return found.take(pyarrow.array(places, mask=~is_valid))


def _array_of(column: Any) -> Any:
    """Returns an array, or several chunks, with a type of bytes or strings."""
    import pyarrow

    if isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
        array = column
    elif hasattr(column, "__arrow_c_stream__") and not type(column).__module__.startswith("pandas"):
        array = pyarrow.chunked_array(column)
    else:
        array = pyarrow.array(column, from_pandas=True)
    types = pyarrow.types
    if types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if types.is_null(array.type):
        array = array.cast(pyarrow.binary())
    if array.null_count and types.is_string_view(array.type):
        # Nulls of views cannot be left out.
        array = array.cast(pyarrow.large_string())
    if array.null_count and types.is_binary_view(array.type):
        array = array.cast(pyarrow.large_binary())
    is_bytes = (
        types.is_binary(array.type)
        or types.is_large_binary(array.type)
        or types.is_fixed_size_binary(array.type)
        or types.is_binary_view(array.type)
    )
    is_text = types.is_string(array.type) or types.is_large_string(array.type) or types.is_string_view(array.type)
    if not (is_bytes or is_text):
        raise TypeError(f"the values have the type {array.type}: expected bytes or strings")
    return array
