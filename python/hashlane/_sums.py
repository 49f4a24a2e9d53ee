"""Lists of checksums: read, written, and compared with files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from hashlane import _hashlane


class Sum(NamedTuple):
    """The digest that a file should have."""

    path: str
    """Path of the file, whose bytes that are not UTF-8 are surrogates, as of :func:`os.fsdecode`."""
    algorithm: str
    """A name that :func:`hashlane.new` accepts."""
    digest: str
    """Hexadecimal digits in lower case."""


def read_sums(path: str | bytes | os.PathLike[str], algorithm: str | None = None) -> list[Sum]:
    """Returns the sums of a list: of GNU coreutils, BSD, hashdeep, mtree or SFV.

    Raises
    ------
    ValueError
        A line is not a sum, or two lines have different digests of the same file.
    """
    with open(path, "rb") as file:
        data = file.read()
    name = os.fsdecode(path)
    try:
        lines = _hashlane.read_sums(data, algorithm)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    found: dict[tuple[str, str], tuple[str, int]] = {}
    for number, file_name, algorithm_of_line, digest in lines:
        key = (str(PurePosixPath(os.fsdecode(file_name))), algorithm_of_line)
        known, line = found.setdefault(key, (digest, number))
        if known != digest:
            raise ValueError(f"{name}: line {number}: {key[0]}: line {line} has another digest")
    return [Sum(file_name, algorithm_of_line, digest) for (file_name, algorithm_of_line), (digest, _) in found.items()]


_BY_LENGTH = {8: "crc32", 32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}


def sums_of(digests: Mapping[str, str], algorithm: str | None = None) -> list[Sum]:
    """Returns the sums of hexadecimal digests by path.

    Raises
    ------
    ValueError
        A digest is not hexadecimal, or no algorithm or another one has digests of its length.
    """
    found = []
    for path, digest in digests.items():
        name = algorithm or _BY_LENGTH.get(len(digest))
        if re.fullmatch("[0-9a-fA-F]+", digest) is None:
            raise ValueError(f"{path}: {digest!r} is not hexadecimal")
        if name is None:
            raise ValueError(f"{path}: no algorithm has digests of {len(digest)} digits: name it by algorithm")
        if len(digest) != 2 * _hashlane.new(name).digest_size:
            raise ValueError(f"{path}: a digest of {name} has not {len(digest)} digits")
        found.append(Sum(os.fsdecode(path), name, digest.lower()))
    return found
