"""Recovery of damaged Base58Check strings and texts with other checksums."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Literal, Self

from hashlane import _hashlane
from hashlane._arguments import listed
from hashlane._progress import Cancel, Progress, callback


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """A string that the damaged text can have been.

    The ``repr`` of a private key or seed does not contain it.
    """

    text: str
    """The string, whose checksum is correct."""
    kind: str
    """The name of its kind, for example ``"p2pkh"``, or ``"witness"`` for a witness address (BIP 173, BIP 350), and words for
    other kinds, for example ``"Ethereum address (EIP-55)"``."""
    edits: int
    """Number of characters that differ from the given text, without regard to letter case and unknown characters."""
    is_secret: bool
    """Whether the string is a private key or a seed."""
    addresses: dict[str, str]
    """Addresses that a private key owns, by the types of their scripts, for example ``"p2pkh"`` and ``"p2wpkh"``."""

    def __repr__(self) -> str:
        text = "secret" if self.is_secret else repr(self.text)
        return f"<Hit {self.kind} {text}, edits={self.edits}>"


@dataclasses.dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind without a name, for ``kinds`` of :func:`recover`: any payload that starts with some bytes."""

    payload_len: int
    """Length of the payload in bytes without the checksum, from 1 to 44."""
    version: bytes = b""
    """The first bytes of the payload."""
    alphabet: Literal["bitcoin", "ripple"] = "bitcoin"
    """The alphabet of the strings."""


@dataclasses.dataclass(frozen=True, slots=True)
class Damage:
    """What a search assumed about a damaged text, beside its unknown characters."""

    case_lost: bool
    """Whether letters could be upper or lower case."""
    glyphs: bool
    """Whether characters could have been replaced by similar ones."""
    errors: int
    """Number of wrong, missing, extra or transposed characters, those included that no such string has."""
    gap: str | None = None
    """Where characters were missing in one piece: ``"end"``, ``"start"`` or ``"inside"``."""


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a search on this machine."""

    kinds: tuple[str, ...]
    """Names of the kinds with candidates."""
    candidates: int
    """Number of possible strings, without regard to the checksum."""
    hashes: float
    """Number of messages to hash twice."""
    accidental_hits: float
    """Expected number of strings whose checksum fits by accident: one of four billion candidates."""
    seconds: float
    """Expected duration in seconds."""
    threads: int
    """Number of threads that search."""
    kernel: str
    """The implementation that hashes, for example ``"sha256d_x16_avx512"``."""
    hashes_per_second: float
    """Messages that one thread hashes twice in a second."""
    is_lower_bound: bool
    """Whether the numbers are lower bounds, because not all candidates could be counted in time."""
    mismatches: tuple[str, ...]
    """For each kind without candidates, the part of the text that fits no such string."""


class Recovery(Iterator[Hit]):
    """A search in the background, and an iterator over its hits: the result of :func:`recover`.

    Also a context manager, which ends the search.
    """

    __slots__ = ("_search",)

    def __init__(self, search: _hashlane.Search) -> None:
        self._search = search

    def __next__(self) -> Hit:
        fields = self._search.next_hit()
        if fields is None:
            raise StopIteration
        return Hit(**fields)

    @property
    def is_complete(self) -> bool:
        """Whether the iterator is at its end and no search ended early. False after :meth:`cancel` or at the end of the time."""
        return self._search.is_complete

    @property
    def tried(self) -> tuple[Damage, ...]:
        """The searches that are complete. A search that widens by itself makes several."""
        return tuple(Damage(*fields) for fields in self._search.tried)

    def cancel(self) -> None:
        """Ends the search. The iterator returns hits that were found before, and then ends."""
        self._search.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


def recover(
    text: str,
    *,
    kinds: Iterable[str | CustomKind] | None = None,
    case: Literal["auto", "lost", "kept"] = "auto",
    glyphs: bool = False,
    errors: int = 0,
    known: Iterable[str] | None = None,
    pubkey_hash: bytes | None = None,
    prefix: str = "",
    shard: tuple[int, int] | None = None,
    max_time: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Recovery:
    """Searches for every Base58Check string, such as an address or a private key, that a damaged text can have been.

    The last four bytes of such a string are a checksum. The search tries all possible originals. One candidate of four billion
    fits by accident: see :attr:`Estimate.accidental_hits`. Several hits are all returned, and none is chosen. A text that is
    intact is the only hit, with 0 edits. Bech32 texts (``bc1...``, ``npub1...``, ``age1...``, any prefix) and codex32 need no search:
    their checksum repairs errors, and the options do not apply. Texts of Ethereum, Monero, Stellar, Algorand, Filecoin,
    Polkadot and EOS are searched for with ``errors`` up to 2, and the words of SLIP-39 with up to 3.

    As with the command ``hashlane recover``, a call without ``case``, ``glyphs``, ``errors`` and ``shard`` searches for more and
    more damage, the cheapest first, until there is a hit or ``max_time`` is over. :attr:`Recovery.tried` lists these searches, and
    :func:`estimate` has the cost of further ones. Other calls make one search.

    Parameters
    ----------
    text : str
        The damaged string, with ``?`` for an unknown character and ``[abc]`` for one of several. Quotes, spaces and a URL around
        the string are removed.
    kinds : iterable of str or CustomKind, optional
        Names of the kinds to search for, as ``hashlane recover --help`` lists them. By default all.
    case : {"auto", "lost", "kept"}
        Whether letters can be upper or lower case. By default they can if all letters have the same case, or if neither the other
        options nor the text name other damage.
    glyphs : bool
        Whether characters can have been replaced by similar ones, for example ``0`` for ``o``.
    errors : int
        Number of wrong, missing, extra or transposed characters: at most two at unknown positions, and characters that no
        such string has, for example ``0``, ``O``, ``I`` and ``l``.
    known : iterable of str, optional
        Addresses. Only these, and keys that own one of them, are hits.
    pubkey_hash : bytes, optional
        Hash in the address, 20 bytes: RIPEMD-160 of SHA-256 of the public key. Used like ``known``.
    prefix : str
        First characters of the original string.
    shard : (int, int), optional
        Part of the search, for example ``(2, 4)`` for the second of four machines. All parts together are the whole search.
    max_time : float, optional
        Maximum duration in seconds, by default 10 if the search widens by itself, and unlimited if not. One search that is
        expected to take longer does not start.
    threads : int, optional
        Number of threads that search, by default one for each CPU.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of completed and of all work units of a search, while the caller waits for a hit.
    cancel : object with ``is_set()``, optional
        Ends the search when it is set, while the caller waits for a hit.

    Returns
    -------
    Recovery
        An iterator, which returns each hit as soon as it is found.

    Raises
    ------
    ValueError
        The text cannot be a damaged string, an option is not valid, ``max_time`` does not suffice, or there are more than
        100,000 hits.
    KeyboardInterrupt
        After Ctrl-C, which also ends the search.

    Examples
    --------
    >>> [hit.text for hit in recover("1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71", kinds=["p2pkh"])]
    ['1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71']
    >>> recovery = recover("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Zn?71")
    >>> list(recovery), recovery.is_complete
    ([<Hit p2pkh '1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71', edits=0>], True)
    """
    request = _request(kinds, case, glyphs, errors)
    widens = case == "auto" and not glyphs and errors == 0 and shard is None
    facts: _hashlane._Facts = {
        "known": None if known is None else listed(known, "known"),
        "pubkey_hash": pubkey_hash,
        "prefix": prefix,
        "shard": shard,
        "max_time": WIDEN_FOR if widens and max_time is None else max_time,
        "widens": widens,
    }
    return Recovery(_hashlane.recover(text, request, facts, threads, callback(progress, "recover"), cancel))


def estimate(
    text: str,
    *,
    kinds: Iterable[str | CustomKind] | None = None,
    case: Literal["auto", "lost", "kept"] = "auto",
    glyphs: bool = False,
    errors: int = 0,
    threads: int | None = None,
) -> Estimate:
    """Returns the cost of one search without making it, within 0.2 s.

    The parameters and the ``ValueError`` are those of :func:`recover`.

    Examples
    --------
    >>> cost = estimate("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Z??71", kinds=["p2pkh"])
    >>> cost.candidates, cost.is_lower_bound
    (3364, False)
    """
    return Estimate(**_hashlane.estimate(text, _request(kinds, case, glyphs, errors), threads))


WIDEN_FOR = 10.0
"""Seconds for a search that widens by itself, as of the program."""

_CASE_LOST = {"auto": None, "lost": True, "kept": False}


def _request(kinds: Iterable[str | CustomKind] | None, case: str, glyphs: bool, errors: int) -> _hashlane._Request:
    if case not in _CASE_LOST:
        raise ValueError(f"case {case!r}: expected 'auto', 'lost' or 'kept'")
    if not 0 <= errors <= 80:
        raise ValueError(f"errors {errors}: expected 0 to 80")
    return {
        "kinds": None if kinds is None else listed(kinds, "kinds"),
        "case_lost": _CASE_LOST[case],
        "glyphs": glyphs,
        "errors": errors,
    }
