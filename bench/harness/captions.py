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
            f"{small} in {scale.many_folders} folders, pieces of 256 KiB, compared with the"
            " classic case. openssl and libtorrent process the small files.",
        ),
        "sparse": (
            "A large hole",
            f"One file of {size_text(scale.sparse_bytes)} that is one hole, like a download"
            " that has only been pre-allocated; pieces of 256 KiB of zeros. Other tools are not"
            " measured: they read the hole, which takes more than a minute.",
        ),
        "v2": (
            "Version 2",
            f"The classic case ({size}, pieces of 256 KiB) as version 2. imdl, torf and aria2c"
            " do not support version 2. torrentfile requires a version 1 key in a .torrent of one"
            " file, so its .torrent has this key.",
        ),
        "hybrid": (
            "Hybrid",
            f"The classic case ({size}, pieces of 256 KiB) as a hybrid. hashlane and"
            " libtorrent check both versions. imdl, torf and aria2c report intact content as"
            " damaged.",
        ),
        "files-v2": (
            "Many small files, version 2",
            f"{small} in {scale.many_folders} folders, as version 2 in pieces of 64 KiB: one"
            " hash per file.",
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
            "The classic case with `HASHLANE_BACKEND` set, as on CPUs with fewer features.",
        ),
        "io": (
            "Maps and reads",
            "The classic case with each `--io`.",
        ),
        "debug": (
            "Debug build",
            "The classic case with a debug build, which shows the cost of such a build.",
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
