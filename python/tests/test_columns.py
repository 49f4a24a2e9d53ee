"""Digests of columns: strings, nulls, and the types of results."""

import hashlib
import hmac

import hashlane
import pytest

pyarrow = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")

TEXTS = ["one", "", "zwölf", "\N{SNOWMAN}" * 100, None, "a" * 13]


def expected(values: list[str | None], name: str = "sha256") -> list[bytes | None]:
    return [None if value is None else hashlib.new(name, value.encode()).digest() for value in values]


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
@pytest.mark.parametrize("values", [TEXTS, TEXTS[:4], [None, None], []])
def test_strings_are_hashed_as_utf8(kind: str, values: list[str | None]) -> None:
    array = pyarrow.array(values, getattr(pyarrow, kind)())
    digests = expected(values)
    found = hashlane.digest_column(array)
    assert found.type == pyarrow.binary(32)
    found.validate(full=True)
    assert found.to_pylist() == digests
    hexadecimal = hashlane.digest_column(array, returns="hex")
    hexadecimal.validate(full=True)
    assert hexadecimal.to_pylist() == [None if digest is None else digest.hex() for digest in digests]
    if None not in values:
        assert hashlane.digest_many(array) == digests
        matrix = hashlane.digest_column(array, returns="numpy")
        assert (matrix.shape, [row.tobytes() for row in matrix]) == ((len(values), 32), digests)
    else:
        with pytest.raises(ValueError, match="null: a matrix has no nulls"):
            hashlane.digest_column(array, returns="numpy")


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view"])
def test_bytes_and_their_nulls(kind: str) -> None:
    values = [b"\xff", None, b"", b"b" * 40]
    array = pyarrow.array(values, getattr(pyarrow, kind)())
    found = hashlane.digest_column(array, "sha1").to_pylist()
    assert found == [None if value is None else hashlib.sha1(value).digest() for value in values]


def test_columns_of_pandas_and_chunks() -> None:
    for series in (pandas.Series(TEXTS), pandas.Series(TEXTS, dtype="string"), pandas.Series(TEXTS, dtype="category")):
        assert hashlane.digest_column(series).to_pylist() == expected(TEXTS)
    chunks = pyarrow.chunked_array([["one", None], [], ["two"]])
    assert hashlane.digest_column(chunks, "sha512").to_pylist() == expected(["one", None, "two"], "sha512")
    assert hashlane.digest_column(chunks.dictionary_encode()).to_pylist() == expected(["one", None, "two"])
    assert hashlane.digest_column(["one", b"two"][:1]).to_pylist() == expected(["one"])


def test_macs_and_prefixes_of_columns() -> None:
    array = pyarrow.array(["one", None])
    assert hashlane.digest_column(array, key=b"k").to_pylist() == [hmac.digest(b"k", b"one", "sha256"), None]
    assert hashlane.digest_column(array, prefix=b"p").to_pylist() == expected(["pone", None])


def test_other_columns_are_refused() -> None:
    with pytest.raises(TypeError, match="the values have the type int64: expected bytes or strings"):
        hashlane.digest_column(pyarrow.array([1, 2]))
    with pytest.raises(ValueError, match="returns: expected 'arrow', 'hex' or 'numpy', found 'list'"):
        hashlane.digest_column(["a"], returns="list")  # type: ignore[call-overload]


def test_expressions_of_polars() -> None:
    polars = pytest.importorskip("polars")
    import hashlane.polars  # noqa: F401

    frame = polars.DataFrame({"text": TEXTS, "bytes": [b"\xff", None, b"", b"", b"", b"x"]})
    found = frame.lazy().select(
        polars.col("text").hashlane.digest().alias("digest"),
        polars.col("bytes").hashlane.hexdigest("md5", key=b"k").alias("mac"),
    )
    assert found.collect_schema() == {"digest": polars.Binary, "mac": polars.String}
    table = found.collect()
    assert table["digest"].to_list() == expected(TEXTS)
    assert table["mac"][0] == hmac.new(b"k", b"\xff", "md5").hexdigest()
    assert table["mac"][1] is None
