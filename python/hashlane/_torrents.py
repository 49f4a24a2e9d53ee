"""Torrents: .torrent files, magnet links, verification, creation and changes."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from hashlane import _hashlane
from hashlane._arguments import listed
from hashlane._progress import Cancel, Progress, callback
from hashlane._remote import is_url

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow


class PieceState(enum.IntEnum):
    """The state of a piece."""

    UNCHECKED = 0
    """Not verified, because it was not among the wanted pieces."""
    HAVE = 1
    """Present and correct."""
    BAD = 2
    """Present and wrong, with at least one byte that is not zero."""
    UNPROVEN = 3
    """Present, but in a file that is wrong at an unknown position: the torrent has one hash for the whole file (BEP 52)."""
    MISSING = 4
    """Missing, because a file does not exist or is too short, or wrong and all zeros on the disk."""
    UNREADABLE = 5
    """The system could not read a file."""


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """A file of a torrent."""

    path: str
    """Path below the content, with slashes. Components cannot leave the folder."""
    length: int
    """Length in bytes."""
    kind: str
    """``"file"``, ``"link"`` (BEP 47), or ``"padding"``, which is not on the disk."""
    target: str | None
    """Target of a link."""
    root: bytes | None
    """Root of the merkle tree of a file of version 2 (BEP 52)."""
    executable: bool
    hidden: bool
    offset: int
    """Offset of the file in the content in bytes, padding included."""
    renamed: bool
    """Whether :attr:`path` differs from the path in the torrent, which cannot be used."""
    has_piece_layer: bool
    """Whether the torrent has the hash of each piece of a file of version 2 (BEP 52). Files of one piece need none."""


@dataclasses.dataclass(frozen=True, slots=True)
class OtherKey:
    """A key of a torrent that this package does not use."""

    key: str
    """Name of the key."""
    in_info: bool
    """Whether the key is in the info dictionary, so that it changes the info-hash."""
    kind: str
    """``"integer"``, ``"string"``, ``"list"`` or ``"dictionary"``."""
    value: int | bytes
    """An integer, the bytes of a string, or a list or dictionary in bencode (BEP 3)."""


@dataclasses.dataclass(frozen=True, slots=True)
class FileReport:
    """The state of one file."""

    index: int
    """Index in :attr:`Torrent.files`."""
    path: str
    """Path below the content, with slashes."""
    state: str
    """``"whole"``, ``"too long"``, ``"incomplete"``, ``"missing"``, ``"unreadable"``, ``"unchecked"``, ``"link"`` or
    ``"wrong link"``. A file that is too long has all of its bytes, and others after them."""
    length: int
    """Length in bytes in the torrent."""
    length_on_disk: int | None
    """Length in bytes on the disk, or None for a file that is absent or was not opened."""
    first_piece: int
    end_piece: int
    """The pieces of the file are ``first_piece`` up to, but without, ``end_piece``. Neighbours can share the first and the last."""
    counts: dict[PieceState, int]
    """Number of these pieces in each state."""
    error: OSError | None
    """The error of the system at the lowest offset."""

    @property
    def is_whole(self) -> bool:
        """Whether all bytes of the file, or the link, are present and correct."""
        return self.state in ("whole", "too long", "link")


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """The result of a verification."""

    pieces: bytes
    """One :class:`PieceState` for each piece, as a byte."""
    bitfield: bytes
    """One bit for each piece that is present and correct, the first piece in the highest bit (BEP 3)."""
    files: tuple[FileReport, ...]
    """One entry for each file, without padding."""
    counts: dict[PieceState, int]
    """Number of pieces in each state."""
    checked_bytes: int
    """Bytes of the pieces whose state is known."""
    have_bytes: int
    """Bytes of the pieces that are present and correct."""
    total_bytes: int
    """Bytes of all pieces."""
    elapsed: float
    """Duration in seconds."""
    is_complete: bool
    """Whether all pieces and links are present and correct."""

    def __repr__(self) -> str:
        states = ", ".join(f"{count} {state.name}" for state, count in self.counts.items() if count)
        return f"<Report {'complete' if self.is_complete else 'not complete'}: {states or 'no'} pieces, {len(self.files)} files>"

    @property
    def have(self) -> bytes:
        """One byte for each piece: 1 if it is present and correct, otherwise 0."""
        return self.pieces.translate(_HAVE)

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """Returns the states of the pieces.

        Returns
        -------
        numpy.ndarray
            Shape ``(pieces,)``, dtype ``uint8``, read-only.
        """
        import numpy

        return numpy.frombuffer(self.pieces, dtype=numpy.uint8)

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table with one row for each file."""
        import pyarrow

        return pyarrow.Table.from_pylist([_row(file) for file in self.files])

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with one row for each file."""
        import pandas

        return pandas.DataFrame([_row(file) for file in self.files])


_HAVE = bytes(int(state == PieceState.HAVE) for state in range(256))


def _row(file: FileReport) -> dict[str, object]:
    row: dict[str, object] = {
        "path": file.path,
        "state": file.state,
        "length": file.length,
        "length_on_disk": file.length_on_disk,
        "first_piece": file.first_piece,
        "end_piece": file.end_piece,
    }
    row.update((state.name.lower(), count) for state, count in file.counts.items())
    row["error"] = str(file.error) if file.error else None
    return row


class Torrent:
    """A .torrent file of version 1, version 2 or both (BEP 3, BEP 47, BEP 52).

    Objects never change, can be compared, and can be pickled.
    """

    __slots__ = ("_native",)

    _native: _hashlane.Torrent

    def __init__(self) -> None:
        raise TypeError("use Torrent.open, Torrent.parse or hashlane.create")

    @classmethod
    def _of(cls, native: _hashlane.Torrent) -> Torrent:
        torrent = object.__new__(cls)
        torrent._native = native
        return torrent

    @classmethod
    def open(cls, path: str | bytes | os.PathLike[str]) -> Torrent:
        """Reads a .torrent file.

        Raises
        ------
        OSError
            The file cannot be read.
        TorrentError
            The file is damaged, or other programs could read it in another way.
        """
        return cls._of(_hashlane.Torrent.open(os.fsdecode(path)))

    @classmethod
    def parse(cls, data: bytes | bytearray | memoryview) -> Torrent:
        """Parses the bytes of a .torrent file.

        Raises
        ------
        TorrentError
            As for :meth:`open`.
        """
        return cls._of(_hashlane.Torrent.parse(data))

    @staticmethod
    def from_magnet(link: str) -> Magnet:
        """Parses a magnet link or a bare info-hash. The files of the torrent are not part of a link.

        Raises
        ------
        ValueError
            The text is neither, or its info-hash is invalid.
        """
        return Magnet(link)

    @property
    def version(self) -> str:
        """``"v1"``, ``"v2"`` or ``"hybrid"``."""
        return self._native.version

    @property
    def name(self) -> str:
        """Name of the file or folder. Bytes that are not UTF-8 are replaced by U+FFFD."""
        return self._native.name

    @property
    def info_hash(self) -> str:
        """Info-hash in hexadecimal: of version 1 where the torrent has it, otherwise of version 2."""
        return self._native.info_hash

    @property
    def info_hash_v1(self) -> str | None:
        """Info-hash of version 1 (SHA-1), 40 hexadecimal digits."""
        return self._native.info_hash_v1

    @property
    def info_hash_v2(self) -> str | None:
        """Info-hash of version 2 (SHA-256), 64 hexadecimal digits."""
        return self._native.info_hash_v2

    @property
    def length(self) -> int:
        """Length of the content in bytes, without padding."""
        return self._native.length

    @property
    def piece_length(self) -> int:
        """Length of a piece in bytes."""
        return self._native.piece_length

    @property
    def piece_count(self) -> int:
        """Number of pieces."""
        return self._native.piece_count

    @property
    def piece_hashes(self) -> list[bytes] | None:
        """SHA-1 of each piece, 20 bytes each, or None for version 2."""
        return self._native.piece_hashes

    @property
    def total_length(self) -> int:
        """Length of all pieces in bytes, which includes padding."""
        return self._native.total_length

    @property
    def is_single_file(self) -> bool:
        """Whether the content is one file without a folder."""
        return self._native.is_single_file

    @property
    def files(self) -> list[File]:
        """The files in their order in the torrent, padding included."""
        return [File(*fields) for fields in self._native._files]

    @property
    def trackers(self) -> list[list[str]]:
        """URLs of trackers in tiers (BEP 12). They can contain passkeys."""
        return self._native._metadata["trackers"]

    @property
    def web_seeds(self) -> list[str]:
        """URLs of the content on web servers (BEP 19)."""
        return self._native._metadata["web_seeds"]

    @property
    def http_seeds(self) -> list[str]:
        """URLs of HTTP seeds of the older type (BEP 17)."""
        return self._native._metadata["http_seeds"]

    @property
    def nodes(self) -> list[tuple[str, int]]:
        """Hosts and ports of DHT nodes (BEP 5)."""
        return self._native._metadata["nodes"]

    @property
    def comment(self) -> str | None:
        """Comment: free text."""
        return self._native._metadata["comment"]

    @property
    def created_by(self) -> str | None:
        """Program that created the torrent."""
        return self._native._metadata["created_by"]

    @property
    def encoding(self) -> str | None:
        """Charset of names that are not UTF-8, for example GBK. It changes no path."""
        return self._native._metadata["encoding"]

    @property
    def creation_date(self) -> int | None:
        """Creation time in seconds since 1970-01-01 UTC."""
        return self._native._metadata["creation_date"]

    @property
    def private(self) -> bool:
        """Whether peers may only come from the trackers (BEP 27)."""
        return self._native._metadata["private"]

    @property
    def source(self) -> str | None:
        """Source tag, which changes the info-hash."""
        return self._native._metadata["source"]

    @property
    def collections(self) -> list[str]:
        """Names of collections that the torrent belongs to (BEP 38)."""
        return self._native._metadata["collections"]

    @property
    def similar(self) -> list[str]:
        """Info-hashes of version 1 of torrents that share files with this one, in hexadecimal (BEP 38)."""
        return self._native._metadata["similar"]

    @property
    def other_keys(self) -> list[OtherKey]:
        """Keys that this package does not use, first those outside the info dictionary."""
        return [OtherKey(*fields) for fields in self._native._other_keys]

    @property
    def notes(self) -> list[str]:
        """Harmless oddities, as sentences for people."""
        return self._native.notes

    def verify(
        self,
        path: str | bytes | os.PathLike[str],
        *,
        pieces: range | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        **storage_options: Any,
    ) -> Report:
        """Determines which pieces are present and correct. Only reads.

        Parameters
        ----------
        path : path or URL
            The file of a single-file torrent, or the folder that holds the files, whatever its name is. A URL such as
            ``s3://bucket/folder`` is read by fsspec.
        pieces : range, optional
            Pieces to verify, with a step of 1. All others are ``UNCHECKED`` in the report. If a file of version 2 has one hash for
            all of its pieces, they are verified together. Empty files and links are looked at with the first piece.
        threads : int, optional
            Number of threads that read and hash: by default one for each CPU, or 8 for a URL, whose reads wait.
        progress : callable, tqdm bar or rich Progress, optional
            Called with the number of verified bytes and of all bytes. A bar shows them: ``progress=tqdm(unit="B")``.
        cancel : object with ``is_set()``, optional
            Ends the verification when it is set.
        **storage_options
            Options of the file system of a URL.

        Raises
        ------
        OSError
            The path cannot be the content, for example a file where the torrent has a folder. Files that are absent or
            unreadable are part of the report, not errors.
        hashlane.Cancelled
            The verification was cancelled.

        Examples
        --------
        A bar of tqdm, and one of rich, show the progress in one line.

        >>> import os, tempfile
        >>> import hashlane, rich.progress, tqdm
        >>> file = tempfile.NamedTemporaryFile()
        >>> file.truncate(1 << 20)
        1048576
        >>> torrent = hashlane.create(file.name)
        >>> bar = tqdm.tqdm(unit="B", unit_scale=True, file=open(os.devnull, "w"))
        >>> torrent.verify(file.name, progress=bar).is_complete
        True
        >>> bar.n, bar.total
        (1048576, 1048576)
        >>> with rich.progress.Progress(disable=True) as bars:
        ...     torrent.verify(file.name, progress=bars).is_complete
        True
        >>> bars.finished
        True
        """
        run = None
        if pieces is not None:
            if pieces.step != 1 or not 0 <= pieces.start <= pieces.stop <= self.piece_count:
                raise ValueError(f"pieces: {pieces} is not a run of the {self.piece_count} pieces")
            run = (pieces.start, pieces.stop)
        text, show = os.fsdecode(path), callback(progress, "verify")
        if is_url(path):
            from hashlane import _remote

            return _report(_remote.verify(self, text, run, threads, show, cancel, storage_options))
        if storage_options:
            raise TypeError(f"options of a file system without a URL: {', '.join(storage_options)}")
        return _report(_hashlane.verify(self._native, text, run, threads, show, cancel))

    def edit(
        self,
        *,
        trackers: Iterable[str | Iterable[str]] | EllipsisType = ...,
        add_trackers: Iterable[str | Iterable[str]] = (),
        remove_trackers: Iterable[str] = (),
        web_seeds: Iterable[str] | EllipsisType = ...,
        add_web_seeds: Iterable[str] = (),
        remove_web_seeds: Iterable[str] = (),
        replace: Mapping[str, str] | None = None,
        nodes: Iterable[tuple[str, int]] | EllipsisType = ...,
        similar: Iterable[str] | EllipsisType = ...,
        collections: Iterable[str] | EllipsisType = ...,
        comment: str | None | EllipsisType = ...,
        created_by: str | None | EllipsisType = ...,
        creation_date: int | None | EllipsisType = ...,
        name: str | EllipsisType = ...,
        source: str | None | EllipsisType = ...,
        private: bool | EllipsisType = ...,
    ) -> Torrent:
        """Returns a torrent with other metadata. This object stays as it is.

        Everything else keeps its bytes. Only ``name``, ``source`` and ``private`` change the info dictionary and with it the
        info-hash, and only if their values differ. ``...`` keeps a value, and None or an empty list removes it. Trackers and web
        seeds are removed first, then texts in the remaining URLs are replaced, and then URLs are added.

        Parameters
        ----------
        trackers, add_trackers : iterable of str or of iterables of str
            URLs of trackers, one tier each, or tiers of URLs (BEP 12), in place of or after those of the torrent.
        remove_trackers, remove_web_seeds : iterable of str
            URLs or hosts to remove.
        web_seeds, add_web_seeds : iterable of str
            URLs of the content on web servers (BEP 19), in place of or after those of the torrent.
        replace : mapping of str to str, optional
            Texts to replace in the URLs of trackers and web seeds, for example a passkey or a host.
        nodes : iterable of (str, int)
            Hosts and ports of nodes of the DHT (BEP 5).
        similar : iterable of str
            Info-hashes of version 1 of torrents that share files with this one, in hexadecimal (BEP 38).
        collections : iterable of str
            Names of collections that the torrent belongs to (BEP 38).
        comment, created_by : str or None
            Texts.
        creation_date : int or None
            Seconds since 1970-01-01 UTC.
        name : str
            Name of the content, a file or folder. Changes the info-hash.
        source : str or None
            Source tag. Changes the info-hash.
        private : bool
            Whether peers may only come from the trackers (BEP 27). Changes the info-hash.

        Raises
        ------
        ValueError
            A text is not a URL, a name or an info-hash.

        Examples
        --------
        >>> torrent = Torrent.open("demo.torrent")  # doctest: +SKIP
        >>> moved = torrent.edit(replace={"old.example": "new.example"}, comment=None)  # doctest: +SKIP
        >>> moved.info_hash == torrent.info_hash  # doctest: +SKIP
        True
        """
        changes: dict[str, Any] = {
            "trackers": (None if trackers is ... else _tiers(trackers), _tiers(add_trackers, "add_trackers")),
            "web_seeds": (_kept_or_list(web_seeds, "web_seeds"), listed(add_web_seeds, "add_web_seeds")),
            "nodes": (_kept_or_list(nodes, "nodes"), []),
            "similar": (_kept_or_list(similar, "similar"), []),
            "collections": (_kept_or_list(collections, "collections"), []),
            "remove_trackers": listed(remove_trackers, "remove_trackers"),
            "remove_web_seeds": listed(remove_web_seeds, "remove_web_seeds"),
            "replace": list((replace or {}).items()),
            "comment": None if comment is ... else (comment,),
            "created_by": None if created_by is ... else (created_by,),
            "creation_date": None if creation_date is ... else (creation_date,),
            "name": None if name is ... else name,
            "source": None if source is ... else (source,),
            "private": None if private is ... else private,
        }
        return Torrent._of(_hashlane.edit(self._native, changes))

    def magnet(self) -> str:
        """Returns the magnet link, with name, length, trackers and web seeds."""
        return self._native.magnet()

    def write(self, path: str | bytes | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the .torrent file, which gets its name when it is complete.

        Raises
        ------
        FileExistsError
            The file exists, and ``overwrite`` is false.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile, hashlane
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "content").write_bytes(b"content")
        >>> torrent = hashlane.create(folder / "content")
        >>> torrent.write(folder / "content.torrent")
        >>> Torrent.open(folder / "content.torrent") == torrent
        True
        """
        target = os.fsdecode(path)
        partial = f"{target}.{os.getpid()}.part"
        try:
            with open(partial, "xb") as file:
                file.write(bytes(self))
                file.flush()
                os.fsync(file.fileno())
            if overwrite:
                os.replace(partial, target)
            else:
                # A link does not replace a file.
                os.link(partial, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(partial)

    def __bytes__(self) -> bytes:
        return bytes(self._native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Torrent) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(self.info_hash)

    def __reduce__(self) -> tuple[Callable[[bytes], Torrent], tuple[bytes]]:
        return Torrent.parse, (bytes(self),)

    def __repr__(self) -> str:
        return f"<Torrent {self.info_hash} {self.name!r}>"


class Magnet:
    """A magnet link (BEP 9, BEP 53): info-hashes, and hints where to find the torrent."""

    __slots__ = ("_native",)

    def __init__(self, link: str) -> None:
        self._native = _hashlane.Magnet(link)

    @property
    def info_hash_v1(self) -> str | None:
        """Info-hash of version 1 in hexadecimal."""
        return self._native.info_hash_v1

    @property
    def info_hash_v2(self) -> str | None:
        """Info-hash of version 2 in hexadecimal."""
        return self._native.info_hash_v2

    @property
    def name(self) -> str | None:
        """Name to show until the torrent is available."""
        return self._native.name

    @property
    def length(self) -> int | None:
        """Length of the content in bytes."""
        return self._native.length

    @property
    def trackers(self) -> list[str]:
        """URLs of trackers, all in one tier."""
        return self._native.trackers

    @property
    def web_seeds(self) -> list[str]:
        """URLs of the content on web servers (BEP 19)."""
        return self._native.web_seeds

    def __str__(self) -> str:
        return str(self._native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Magnet) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[type[Magnet], tuple[str]]:
        return Magnet, (str(self),)

    def __repr__(self) -> str:
        return f"Magnet({str(self)!r})"


def _counts(counts: Sequence[int]) -> dict[PieceState, int]:
    return dict(zip(PieceState, counts, strict=True))


def _file_report(fields: dict[str, Any]) -> FileReport:
    fields["counts"] = _counts(fields["counts"])
    if fields["error"] is not None:
        offset, number, text = fields["error"]
        if offset is not None:
            text = f"at byte {offset}: {text}"
        fields["error"] = OSError(number, text, fields["path"])
    length = fields["length_on_disk"]
    if fields["state"] == "whole" and length is not None and length > fields["length"]:
        fields["state"] = "too long"
    return FileReport(**fields)


def _report(fields: dict[str, Any]) -> Report:
    fields["counts"] = _counts(fields["counts"])
    fields["files"] = tuple(_file_report(file) for file in fields["files"])
    return Report(**fields)


_Item = TypeVar("_Item")


def _kept_or_list(items: Iterable[_Item] | EllipsisType, name: str) -> list[_Item] | None:
    return None if items is ... else listed(items, name)


def _tiers(trackers: Iterable[str | Iterable[str]], name: str = "trackers") -> list[list[str]]:
    return [[tier] if isinstance(tier, str) else list(tier) for tier in listed(trackers, name)]


def create(
    path: str | bytes | os.PathLike[str] | BinaryIO,
    *,
    version: str = "hybrid",
    name: str | None = None,
    piece_length: int | None = None,
    trackers: Iterable[str | Iterable[str]] = (),
    web_seeds: Iterable[str] = (),
    comment: str | None = None,
    created_by: str | None = "hashlane",
    creation_date: int | None = None,
    private: bool = False,
    source: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    **storage_options: Any,
) -> Torrent:
    """Creates the torrent of a file or folder.

    Parameters
    ----------
    path : path, URL or binary file
        The file or folder. The content of a URL, which fsspec reads, is copied to a temporary folder first, and so is that of an
        open file that is no regular file at its start.
    version : {"hybrid", "v1", "v2"}
        Protocol version. A hybrid has both kinds of hashes.
    name : str, optional
        Name of the content, by default that of the file or folder.
    piece_length : int, optional
        Length of a piece in bytes, a power of two. By default so many that there are at most 2048 pieces of at most 16 MiB.
    trackers : iterable of str or of iterables of str
        URLs of trackers, one tier each, or tiers of URLs (BEP 12).
    web_seeds : iterable of str
        URLs of the content on web servers (BEP 19).
    comment, created_by, source : str, optional
        Texts. ``source`` changes the info-hash.
    creation_date : int, optional
        Seconds since 1970-01-01 UTC, by default now. A fixed date makes equal content equal torrents.
    private : bool
        Whether peers may only come from the trackers (BEP 27).
    threads, progress, cancel
        As for :meth:`Torrent.verify`.
    **storage_options
        Options of the file system of a URL.

    Raises
    ------
    OSError
        A file cannot be read, or changed while it was read, with ``filename`` and ``errno``.
    ValueError
        No torrent can have this content, for example an empty folder.
    Cancelled
        ``cancel`` was set.

    Examples
    --------
    >>> torrent = create("demo/content", version="v1", creation_date=0)  # doctest: +SKIP
    >>> torrent.write("demo.torrent")  # doctest: +SKIP
    """
    options = {
        "version": version,
        "name": name,
        "piece_length": piece_length,
        "trackers": _tiers(trackers),
        "web_seeds": listed(web_seeds, "web_seeds"),
        "comment": comment,
        "created_by": created_by,
        "creation_date": int(time.time()) if creation_date is None else creation_date,
        "private": private,
        "source": source,
    }
    show = callback(progress, "create")
    if isinstance(path, (str, bytes, os.PathLike)) and not is_url(path) and not storage_options:
        return Torrent._of(_hashlane.create(os.fsdecode(path), options, threads, show, cancel))
    from hashlane import _remote

    if name is None and hasattr(path, "read"):
        options["name"] = os.path.basename(os.fsdecode(getattr(path, "name", "") or "content"))
    with _remote.on_disk(path, storage_options) as place:
        return Torrent._of(_hashlane.create(place, options, threads, show, cancel))
