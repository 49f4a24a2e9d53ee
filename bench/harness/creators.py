"""Every tool that writes .torrent files, and how to check its results.

The reference is `Payload.torrent`: written by Python for version 1, and by `torrents.Maker` for the
other versions.
"""

from collections.abc import Sequence
from pathlib import Path

from harness.payloads import Payload
from harness.process import Outcome, exit_status_complaint
from harness.tools import (
    ALL_THREADS,
    BOTH,
    NOT_INSTALLED,
    Complaint,
    Contestant,
    Hashlane,
    Threads,
    Toolbox,
    command_of,
    script_contestant,
)
from harness.torrents import Version, info_hashes, read_torrent

OUTPUT = "created.torrent"
# A placeholder that no tool contacts.
TRACKER = "http://localhost/announce"


def creators(
    hashlane: Hashlane, toolbox: Toolbox, payload: Payload, piece_length: int, version: Version
) -> list[Contestant]:
    """List all tools that can write a .torrent of that version."""
    only_version_1 = (_mktorrent, _imdl, _mkbrr, _torf) if version is Version.V1 else ()
    return [
        *(make(toolbox, payload, piece_length) for make in only_version_1),
        _libtorrent(toolbox, payload, piece_length, version),
        _torrentfile(toolbox, payload, piece_length, version),
        *(_hashlane(hashlane, payload, piece_length, version, threads) for threads in BOTH),
    ]


def _hashlane(
    hashlane: Hashlane, payload: Payload, piece_length: int, version: Version, threads: Threads
) -> Contestant:
    arguments = [
        *("create", payload.name, "-o", OUTPUT, "--force", "--format", version),
        *("-l", str(piece_length)),
        *threads.options,
        "-q",
    ]
    command = command_of(
        hashlane.program,
        "hashlane",
        arguments,
        payload,
        _wrote_right_torrent(payload, piece_length, version),
        output=_output(payload),
    )
    return Contestant(
        key=f"create-{threads.key}",
        label=f"hashlane create, {threads.text}",
        payload=payload,
        command=command,
        baseline=f"verify-{threads.key}",
    )


def _mktorrent(toolbox: Toolbox, payload: Payload, piece_length: int) -> Contestant:
    """Create with mktorrent, which takes piece lengths as powers of two and requires a tracker."""
    options = ("-d", "-t", str(ALL_THREADS.count), "-l", _power(piece_length), "-a", TRACKER)
    arguments = [*options, "-o", OUTPUT, payload.name]
    label = f"mktorrent, {ALL_THREADS.text}"
    return _program(toolbox, "mktorrent", label, arguments, payload, piece_length)


def _imdl(toolbox: Toolbox, payload: Payload, piece_length: int) -> Contestant:
    """Create with intermodal."""
    options = ("-p", str(piece_length), "-o", OUTPUT)
    arguments = ["torrent", "create", "-i", payload.name, *options]
    return _program(toolbox, "imdl", "imdl", arguments, payload, piece_length)


def _mkbrr(toolbox: Toolbox, payload: Payload, piece_length: int) -> Contestant:
    """Create with mkbrr, which adds `private` also to public torrents."""
    options = ("--workers", str(ALL_THREADS.count), "-l", _power(piece_length), "-o", OUTPUT)
    arguments = ["create", payload.name, *options, "--private=false", "-q"]
    label = f"mkbrr, {ALL_THREADS.text}, which adds `private`"
    added = (b"private",)
    return _program(toolbox, "mkbrr", label, arguments, payload, piece_length, added=added)


def _torf(toolbox: Toolbox, payload: Payload, piece_length: int) -> Contestant:
    """Create with torf-cli, which sets the piece length through its option for any key."""
    merge = f'{{"info":{{"piece length":{piece_length}}}}}'
    arguments = ["--noconfig", "--nomagnet", "--merge", merge, payload.name, "-o", OUTPUT]
    return _program(toolbox, "torf", "torf", arguments, payload, piece_length)


def _torrentfile(
    toolbox: Toolbox, payload: Payload, piece_length: int, version: Version
) -> Contestant:
    """Create with torrentfile, the only tool that gives one file of version 2 a `length`."""
    number = {Version.V1: "1", Version.V2: "2", Version.HYBRID: "3"}[version]
    options = ("--prog", "0", "--meta-version", number, "--piece-length", _power(piece_length))
    arguments = ["create", *options, "-o", OUTPUT, payload.name]
    added = (b"length",) if version is Version.V2 and not payload.parts else ()
    label = "torrentfile, which adds `length`" if added else "torrentfile"
    return _program(toolbox, "torrentfile", label, arguments, payload, piece_length, version, added)


def _libtorrent(
    toolbox: Toolbox, payload: Payload, piece_length: int, version: Version
) -> Contestant:
    """Create with libtorrent, which also reports the time of the creation alone."""
    return script_contestant(
        script="libtorrent_create.py",
        arguments=[version, payload.name, str(piece_length), OUTPUT],
        payload=payload,
        complaint=_wrote_right_torrent(payload, piece_length, version),
        key="libtorrent",
        label="libtorrent",
        inner_name="creation",
        absent=None if toolbox.libtorrent else NOT_INSTALLED,
        output=_output(payload),
    )


def _program(
    toolbox: Toolbox,
    name: str,
    label: str,
    arguments: Sequence[str],
    payload: Payload,
    piece_length: int,
    version: Version = Version.V1,
    added: Sequence[bytes] = (),
) -> Contestant:
    complaint = _wrote_right_torrent(payload, piece_length, version, added)
    return toolbox.contestant(name, label, arguments, payload, complaint, output=_output(payload))


def _output(payload: Payload) -> Path:
    return payload.folder / OUTPUT


def _power(piece_length: int) -> str:
    return str(piece_length.bit_length() - 1)


def _wrote_right_torrent(
    payload: Payload, piece_length: int, version: Version, added: Sequence[bytes] = ()
) -> Complaint:
    """Check that the info-hashes and piece layers that a tool wrote are right.

    `added` lists keys of the info dictionary that this tool is known to add. They are removed
    before the info-hashes are computed.
    """
    right = read_torrent(payload.folder / payload.torrent(piece_length, version))

    def complaint(outcome: Outcome) -> str | None:
        try:
            made = read_torrent(_output(payload))
            for key in added:
                made[b"info"].pop(key, None)
            if info_hashes(made) != info_hashes(right):
                return "came to another info-hash"
        except (OSError, KeyError, ValueError) as error:
            return f"wrote no .torrent that can be read: {error}"
        if made.get(b"piece layers") != right.get(b"piece layers"):
            return "wrote other piece layers"
        return exit_status_complaint(outcome)

    return complaint
