"""Settings and data that all suites share."""

from dataclasses import dataclass
from pathlib import Path

from harness import payloads
from harness.payloads import KIB, Payload, Scale
from harness.tools import Hashlane, Toolbox
from harness.torrents import Maker

CLASSIC_PIECE = 256 * KIB
SMALL_PIECE = 64 * KIB


@dataclass(frozen=True)
class Bench:
    """The programs, the data and the number of rounds."""

    hashlane: Hashlane
    debug_build: Hashlane | None
    toolbox: Toolbox
    work: Path
    scale: Scale
    rounds: int

    @property
    def maker(self) -> Maker:
        """Writer of the .torrent files of version 2."""
        return Maker(self.hashlane.program, self.toolbox.libtorrent is not None)

    def classic(self) -> Payload:
        """The large file, with a .torrent of each version."""
        payload = payloads.classic(self.work, self.scale)
        return payloads.with_torrents(payload, CLASSIC_PIECE, self.maker)

    def many_files(self) -> Payload:
        """The small files, with a .torrent of each version whose pieces hold one file each."""
        payload = payloads.many_files(self.work, self.scale)
        return payloads.with_torrents(payload, SMALL_PIECE, self.maker)
