"""The manifest of a report: a folder with rows in JSON lines or Parquet, and the latest result of each unit of work."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from json.encoder import encode_basestring
from pathlib import Path
from types import TracebackType

from hashlane.dask._work import COLUMNS, Answer, Item, Row

SOUND = frozenset({"have", "read"})
"""Verdicts without a fault."""

HELD_ROWS = 4 << 10
"""Bytes of rows that are held before they are written, if their files are so small that it costs nothing to read them again."""

SMALL = 1 << 20
"""Bytes of an item from which its rows are written at once."""


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """The latest result of a unit."""

    checked_at: float
    """Seconds since 1970-01-01 UTC."""
    host: str
    stamp: str | None
    finding: tuple[tuple[object, ...], ...]
    """What was found: equal for equal content."""
    counts: dict[str, int]
    """Number of pieces, or of files, with each verdict."""
    faults: tuple[Row, ...]
    """The rows whose verdict is not sound."""

    @property
    def is_sound(self) -> bool:
        """Whether everything was present and correct."""
        return not self.faults

    @classmethod
    def of(cls, item: Item, rows: list[Row]) -> Known | None:
        """Returns the result that rows describe, or None if they do not cover the item: its call was interrupted."""
        results = [row for row in rows if row["verdict"] != "unstable"]
        if not results or not item.is_covered(results):
            return None
        counts: dict[str, int] = {}
        for row in results:
            n = 1 if row["first_piece"] is None else row["end_piece"] - row["first_piece"]
            counts[row["verdict"]] = counts.get(row["verdict"], 0) + n
        return cls(
            results[0]["checked_at"],
            results[0]["host"] or "",
            results[0]["stamp"],
            tuple((row["first_piece"], row["end_piece"], row["verdict"], row["got"]) for row in results),
            counts,
            _faults(rows),
        )


def _faults(rows: list[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if row["verdict"] not in SOUND)


class Manifest:
    """The rows of all calls with the same folder. Each call appends a part.

    Parameters
    ----------
    items : mapping of str to Item
        The items of this call by unit. Rows of other units are not held.

    Raises
    ------
    OSError
        The folder cannot be read or written, for example because the disk is full. All rows before are kept.
    ValueError
        A part is damaged, with its name and line.
    """

    def __init__(self, folder: str | os.PathLike[str], items: Mapping[str, Item], *, parquet: bool) -> None:
        self.folder = Path(folder)
        self.parquet = parquet
        self.folder.mkdir(parents=True, exist_ok=True)
        self.earlier: dict[str, Known] = {}
        """The latest results of earlier calls. A result whose rows were not all written counts as none."""
        for rows in _units(self.folder):
            unit = rows[0]["unit"]
            if unit in items:
                known = Known.of(items[unit], rows)
                if known is None:
                    self.earlier.pop(unit, None)
                else:
                    self.earlier[unit] = known
        self.part = self.folder / f"part-{time.time_ns()}.jsonl"
        self.file = open(self.part, "xb", buffering=0)  # noqa: SIM115 - closed by __exit__
        self.end = 0
        self._held = bytearray()

    def __enter__(self) -> Manifest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._flush()
            os.fsync(self.file.fileno())
        finally:
            self.file.close()
        if self.end == 0:
            self.part.unlink()
        elif self.parquet and error is None:
            _to_parquet(self.part)

    def add(self, answer: Answer) -> Known:
        """Appends the rows of an answer. If an earlier result of unchanged content was different, a row says so.

        Raises
        ------
        ValueError
            The answer does not cover its item.
        """
        rows = answer.rows()
        new, old = Known.of(answer.item, rows), self.earlier.get(answer.item.unit)
        if new is None:
            raise ValueError(f"{answer.item.unit}: the worker {answer.worker} answered for another part of it")
        are_results = old is not None and "unreadable" not in old.counts and "unreadable" not in new.counts
        if old is not None and are_results and old.stamp == new.stamp and old.finding != new.finding:
            rows = [*rows, _unstable(rows[0], f"other results on {old.host} and then on {new.host}")]
        elif any(row["got"] is not None and row["got"] == row["wanted"] and row["verdict"] == "bad" for row in rows):
            # The digest comes from a second read of a wrong piece.
            rows = [*rows, _unstable(rows[0], f"two reads on {new.host} differ")]
        else:
            self._write(rows, answer.item.bytes)
            return new
        self._write(rows, answer.item.bytes)
        return dataclasses.replace(new, faults=_faults(rows))

    def _write(self, rows: list[Row], n_bytes: int) -> None:
        for row in rows:
            self._held += _line(row)
        if len(self._held) >= HELD_ROWS or n_bytes >= SMALL:
            self._flush()

    def _flush(self) -> None:
        data, self._held = self._held, bytearray()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError as error:
            # A part of a row would be no row.
            self.file.truncate(self.end)
            reason = f"{error.strerror}: the report ends here, and the next call continues it"
            raise OSError(error.errno, reason, str(self.part)) from error
        self.end += len(data)


def _unstable(row: Row, error: str) -> Row:
    return {**row, "verdict": "unstable", "error": f"unstable read: {error}", "wanted": None, "got": None}


_KEYS = tuple((name, f'"{name}": ') for name in COLUMNS)


def _line(row: Row) -> bytes:
    """Returns a row in JSON. For a flat row of known columns, this takes a third of the time of `json.dumps`."""
    line = "{" + ", ".join([key + _json(row[name]) for name, key in _KEYS]) + "}\n"
    try:
        return line.encode()
    except UnicodeEncodeError:
        # The name of a file is not UTF-8.
        return (json.dumps(row) + "\n").encode()


def _json(value: str | int | float | None) -> str:
    if value is None:
        return "null"
    return encode_basestring(value) if isinstance(value, str) else repr(value)


def parts(folder: str | os.PathLike[str]) -> list[Path]:
    """Returns the parts of a report in the order of their calls."""
    # A call that was interrupted while it wrote Parquet can have left its lines, too.
    found = {part.stem: part for suffix in ("jsonl", "parquet") for part in Path(folder).glob(f"part-*.{suffix}")}
    return [found[stem] for stem in sorted(found)]


def rows_of(part: Path) -> Iterator[Row]:
    """Returns the rows of a part.

    Raises
    ------
    ValueError
        A line is damaged. A last line without an end is left out: its call was interrupted.
    """
    if part.suffix == ".parquet":
        import pyarrow.parquet

        yield from pyarrow.parquet.read_table(part).to_pylist()
        return
    with open(part, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
                _ = row["unit"], row["verdict"], row["checked_at"] + 0.0
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"{part}: line {number}: not a row of a report: {error}") from None
            yield row


def _units(folder: Path) -> Iterator[list[Row]]:
    for part in parts(folder):
        for _, rows in itertools.groupby(rows_of(part), key=lambda row: row["unit"]):
            yield list(rows)


def _to_parquet(part: Path) -> None:
    """Replaces a part by one in Parquet."""
    import pyarrow
    import pyarrow.parquet

    text, numbers = pyarrow.string(), {"first_piece", "end_piece", "bytes"}
    times = {"seconds", "checked_at"}
    schema = pyarrow.schema(
        (name, pyarrow.int64() if name in numbers else pyarrow.float64() if name in times else text)
        for name in next(rows_of(part))
    )
    target, partial = part.with_suffix(".parquet"), part.with_suffix(".parquet.part")
    try:
        with pyarrow.parquet.ParquetWriter(partial, schema) as writer:
            for rows in _batches(rows_of(part), 50_000):
                writer.write_table(pyarrow.Table.from_pylist([_in_utf8(row) for row in rows], schema))
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        os.rename(partial, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        raise
    part.unlink()


def _in_utf8(row: Row) -> Row:
    """Returns a row whose texts Parquet can hold. Bytes of names that are not UTF-8 become escapes."""
    return {name: _escaped(value) if isinstance(value, str) else value for name, value in row.items()}


def _escaped(text: str) -> str:
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace") if not text.isascii() else text


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    rows = iter(rows)
    while batch := list(itertools.islice(rows, size)):
        yield batch
