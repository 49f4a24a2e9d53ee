"""The manifest of a report: a folder with rows in JSON lines or Parquet, and the latest result of each unit of work."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from hashlane.dask._work import EMPTY_ROW, Answer, Item, Row

SOUND = frozenset({"have", "read"})
"""Verdicts without a fault."""

HELD_ROWS = 16 << 10
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
        return cls(
            results[0]["checked_at"],
            results[0].get("host") or "",
            results[0].get("stamp"),
            tuple((row.get("first_piece"), row.get("end_piece"), row["verdict"], row.get("got")) for row in results),
            _counts(results),
            _faults(rows),
        )


def _counts(rows: list[Row]) -> dict[str, int]:
    """Returns the number of pieces, or of files, with each verdict."""
    counts: dict[str, int] = {}
    for row in rows:
        n = 1 if row.get("first_piece") is None else row["end_piece"] - row["first_piece"]
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + n
    return counts


def _faults(rows: list[Row]) -> tuple[Row, ...]:
    return tuple(EMPTY_ROW | row for row in rows if row["verdict"] not in SOUND)


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

    def add(self, answer: Answer) -> tuple[dict[str, int], tuple[Row, ...]]:
        """Appends the rows of an answer. If an earlier result of unchanged content was different, a row says so.

        Returns the number of pieces, or of files, with each verdict, and the rows whose verdict is not sound.

        Raises
        ------
        ValueError
            The answer does not cover its item.
        """
        item, rows = answer.item, answer.rows()
        if not rows or not item.is_covered(rows):
            raise ValueError(f"{item.unit}: the worker {answer.worker} answered for another part of it")
        counts = _counts(rows)
        unstable = self._difference(item, rows)
        if unstable is not None:
            error = f"unstable read: {unstable}"
            rows = [*rows, {**rows[0], "verdict": "unstable", "error": error, "wanted": None, "got": None}]
        for row in rows:
            self._held += _line(row)
        if len(self._held) >= HELD_ROWS or item.bytes >= SMALL:
            self._flush()
        return counts, _faults(rows)

    def _difference(self, item: Item, rows: list[Row]) -> str | None:
        """Returns how two results differ although the content is unchanged, if they do."""
        old = self.earlier.get(item.unit)
        new = Known.of(item, rows) if old is not None else None
        if old is not None and new is not None and old.stamp == new.stamp and old.finding != new.finding:
            are_results = "unreadable" not in old.counts and "unreadable" not in new.counts
            if are_results:
                return f"other results on {old.host} and then on {new.host}"
        for row in rows:
            if row["verdict"] == "bad" and row.get("got") is not None and row["got"] == row["wanted"]:
                # The digest comes from a second read of a wrong piece.
                return f"two reads on {row['host']} differ"
        return None

    def _flush(self) -> None:
        data, self._held = self._held, bytearray()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError as error:
            # A part of a row would be no row.
            self.end += data.rfind(b"\n", 0, len(data) - len(rest)) + 1
            self.file.truncate(self.end)
            reason = f"{error.strerror}: the report ends here, and the next call continues it"
            raise OSError(error.errno, reason, str(self.part)) from error
        self.end += len(data)


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def _line(row: Row) -> bytes:
    """Returns a row in JSON, without the keys that have no value."""
    row = {name: value for name, value in row.items() if value is not None}
    try:
        return (_ENCODER.encode(row) + "\n").encode()
    except UnicodeEncodeError:
        # The name of a file is not UTF-8.
        return (json.dumps(row) + "\n").encode()


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
            yield EMPTY_ROW | row


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
        for name in EMPTY_ROW
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
