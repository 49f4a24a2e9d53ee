"""Types of what a client reports."""

from __future__ import annotations

from typing import Literal, TypedDict


class File(TypedDict):
    """A file of a torrent, without padding. ``path`` is below the folder of the torrent, lengths are in bytes."""

    number: int
    path: str
    length_bytes: int
    done_bytes: int | None
    priority: Literal["skip", "low", "normal", "high"]


class Peer(TypedDict):
    """A connected peer. ``progress`` is its share of the torrent, from 0 to 1."""

    address: str
    client: str
    down_bytes_per_second: int
    up_bytes_per_second: int
    downloaded_bytes: int
    uploaded_bytes: int
    progress: float
    outgoing: bool
    encrypted: bool
    utp: bool
    web_seed: bool


class Tracker(TypedDict):
    """A tracker. URL and message have no passwords and passkeys. Trackers of a higher tier are used if all lower ones fail."""

    url: str
    tier: int
    state: Literal["unused", "failed", "updating", "working"]
    message: str
    failures: int
    seeds: int | None
    leeches: int | None
    next_seconds: int | None
