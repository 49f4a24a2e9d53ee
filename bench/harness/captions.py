"""The titles and introductions of the suites in the report, and the ratios to print."""

from collections.abc import Callable

from harness.goals import LIBTORRENT
from harness.payloads import MANY_FILE_BYTES, Scale, size_text
from harness.rounds import inner_key
from harness.samples import Series
from harness.torrents import Version

Ratio = tuple[str, Callable[[Series], str | None]]
_NAMES = {Version.V1: "version 1", Version.V2: "version 2", Version.HYBRID: "hybrid"}


def about(suite_key: str, scale: Scale) -> tuple[str, str]:
    """Return the title of a suite, and its introduction."""
    size = f"{scale.classic_bytes:,} bytes"
    small = f"{scale.many_files:,} files of {size_text(MANY_FILE_BYTES)}"
    return {
        "classic": (
            "Classic case",
            f"One file of {size}, pieces of 256 KiB, in the page cache.",
        ),
        "pieces": (
            "Piece lengths",
            f"The same file in pieces of other lengths ({size}).",
        ),
        "files": (
            "Many small files",
            f"{small} in {scale.many_folders} folders, pieces of 256 KiB; beside them the classic"
            " case. openssl and libtorrent have the small files here.",
        ),
        "sparse": (
            "A large hole",
            f"One file of {size_text(scale.sparse_bytes)} that is one hole, as a download that has"
            " only been pre-allocated; pieces of 256 KiB of zeros. Nobody else is measured here:"
            " they read what is not there, which takes a minute and more.",
        ),
        "v2": (
            "Version 2",
            f"The classic case ({size}, pieces of 256 KiB) as version 2. imdl, torf and aria2c"
            " cannot do that. torrentfile wants a key of version 1 in a .torrent of one file, and"
            " gets it.",
        ),
        "hybrid": (
            "Hybrid",
            f"The classic case ({size}, pieces of 256 KiB) as a hybrid. hashlane and"
            " libtorrent check both versions. imdl, torf and aria2c report intact content as"
            " broken.",
        ),
        "files-v2": (
            "Many small files, version 2",
            f"{small} in {scale.many_folders} folders, as version 2 in pieces of 64 KiB: a hash"
            " for each file.",
        ),
        "files-hybrid": (
            "Many small files, hybrid",
            f"{small} in {scale.many_folders} folders, as a hybrid in pieces of 64 KiB: each file"
            " is a piece and, for version 1, padded with zeros that are hashed as well.",
        ),
        **{
            f"create-{version}": (
                f"Creation, {name}",
                f"A .torrent of the classic case ({size}, pieces of 256 KiB). All tools produce the"
                " same info-hash, except for the keys that are named. libtorrent's Python module"
                " has no setting for the number of threads.",
            )
            for version, name in _NAMES.items()
        },
        "backends": (
            "Backends",
            "The classic case with `HASHLANE_BACKEND` set, as CPUs that can do less would do it.",
        ),
        "io": (
            "Maps and reads",
            "The classic case with each `--io`.",
        ),
        "debug": (
            "Debug build",
            "The classic case with a build for debugging, to see what that costs.",
        ),
    }[suite_key]


def _always(key: str) -> Callable[[Series], str | None]:
    return lambda _series: key


_TO_OPENSSL: Ratio = ("/ openssl", _always("openssl"))
_TO_LIBTORRENT: Ratio = ("/ libtorrent's check", _always(inner_key(LIBTORRENT, "check")))
_TO_LIBTORRENT_PROCESS: Ratio = ("/ libtorrent's process", _always(LIBTORRENT))


def _to_own_baseline(name: str) -> Ratio:
    return (name, lambda series: series.baseline)


RATIOS: dict[str, tuple[Ratio, ...]] = {
    "classic": (_TO_OPENSSL, _TO_LIBTORRENT, _TO_LIBTORRENT_PROCESS),
    "pieces": (_TO_OPENSSL, _to_own_baseline("/ 256 KiB")),
    "files": (_TO_OPENSSL, _TO_LIBTORRENT, _to_own_baseline("/ one file")),
    "sparse": (),
    "v2": (_TO_OPENSSL, _TO_LIBTORRENT, _TO_LIBTORRENT_PROCESS),
    "hybrid": (
        _to_own_baseline("/ both versions"),
        _TO_LIBTORRENT,
        _TO_LIBTORRENT_PROCESS,
    ),
    "files-v2": (_TO_OPENSSL, _TO_LIBTORRENT),
    "files-hybrid": (_TO_OPENSSL, _TO_LIBTORRENT),
    **{
        f"create-{version}": (
            _to_own_baseline("/ verify"),
            ("/ libtorrent's process", _always("libtorrent")),
        )
        for version in Version
    },
    "backends": (_TO_OPENSSL,),
    "io": (_TO_OPENSSL,),
    "debug": (_TO_OPENSSL, _to_own_baseline("/ release")),
}
