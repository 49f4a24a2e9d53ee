"""The samples of the engine's benchmark, as in sha.json."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from harness.samples import Quartiles, quartiles

ALGORITHMS = ("SHA-1", "SHA-256")
ENGINE = "hashlane"
ENGINE_AVX2 = "hashlane, AVX2 only"
ENGINE_SINGLE = "hashlane, one by one"
# The detector that sha1dcsum and Git run.
DETECTOR = "sha1dc in C"
MESSAGE_LEN = 16 * 1024
MAX_LANES = 16


@dataclass(frozen=True)
class Row:
    """One contender and one batch of messages, with a sample for each round."""

    name: str
    kind: str
    message_len: int | None
    n_messages: int
    gb_per_s: list[float]

    @property
    def median(self) -> float:
        """The median rate in GB/s."""
        return quartiles(self.gb_per_s).median

    @property
    def is_kernel(self) -> bool:
        """Whether this is one kernel of the engine."""
        return self.kind == "kernel"


@dataclass(frozen=True)
class Group:
    """Rows that were measured in turns. Only rows of one group may be compared."""

    algorithm: str
    rows: list[Row]
    # The level of CPU features, or the bytes of an update.
    level: str = ""
    update_len: int = 0

    @property
    def message_len(self) -> int:
        """The length of the messages of the first row."""
        return self.rows[0].message_len or 0

    def row(self, name: str, n_messages: int | None = None) -> Row | None:
        """Return the first row of this contender."""
        return next(
            (row for row in self.rows if row.name == name and n_messages in (None, row.n_messages)),
            None,
        )

    def fastest(self, *names: str) -> Row | None:
        """Return the fastest row whose name starts with one of these."""
        return self.fastest_of(lambda row: row.name.startswith(names))

    def fastest_of(self, wanted: Callable[[Row], bool]) -> Row | None:
        """Return the fastest of the selected rows."""
        return max(filter(wanted, reversed(self.rows)), key=lambda row: row.median, default=None)

    @property
    def openssl(self) -> Row | None:
        """OpenSSL, called in the fastest way."""
        return self.fastest("OpenSSL ")

    @property
    def openssl_one_shot(self) -> Row | None:
        """OpenSSL's faster one-shot function."""
        name = self.algorithm.replace("-", "")
        return self.fastest(f"OpenSSL {name}()", "OpenSSL EVP_Digest")

    @property
    def ipsec_mb(self) -> Row | None:
        """Intel's library with or without the SHA extensions."""
        return self.fastest("ipsec-mb")

    @property
    def rustcrypto(self) -> Row | None:
        """RustCrypto's crate."""
        return self.fastest("RustCrypto ")

    @property
    def detector(self) -> Row | None:
        """The C code that detects collision attacks."""
        return self.row(DETECTOR)

    @property
    def kernel(self) -> Row | None:
        """The fastest kernel."""
        return self.fastest_of(lambda row: row.is_kernel)


def ratio(above: Row | None, below: Row | None) -> Quartiles | None:
    """Return the quartiles of the ratios of the rounds: a disturbance of a round cancels out."""
    if above is None or below is None:
        return None
    return quartiles([a / b for a, b in zip(above.gb_per_s, below.gb_per_s, strict=False)])


@dataclass(frozen=True)
class Results:
    """All results, with a property for each suite of sha.json."""

    data: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read sha.json."""
        return cls(json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        """Write sha.json with one object per line."""
        text = json.dumps(self.data, separators=(",", ":"))
        path.write_text(text.replace("{", "\n{").lstrip("\n") + "\n")

    @property
    def ghz(self) -> Quartiles:
        """The clock rate of the core."""
        return Quartiles(*self.data["clock_ghz"])

    def groups(self, suite: str) -> list[Group]:
        """Return the groups of a suite, or none if it was not measured."""
        return list(map(_group, self.data.get(suite, ())))

    def of(self, suite: str, algorithm: str) -> list[Group]:
        """Return the groups of an algorithm in a suite."""
        return [group for group in self.groups(suite) if group.algorithm == algorithm]


def _group(data: Mapping[str, Any]) -> Group:
    rows = data.get("suite", data)
    return Group(
        rows["algorithm"],
        [Row(**row) for row in rows["rows"]],
        data.get("level", ""),
        data.get("update_len", 0),
    )


def all_rows(groups: Iterable[Group]) -> list[Row]:
    """Return the rows of some groups."""
    return [row for group in groups for row in group.rows]
