"""Downloads and seeds torrents.

A :class:`Client` runs on threads of its own until it is stopped. Its torrents are :class:`TorrentHandle` objects, and
:meth:`Client.events` reports what happens::

    from hashlane_client import Client

    with Client("downloads") as client:
        torrent = client.download("linux.torrent")
        torrent.wait_complete()
        print(torrent.content)

All waits end on Ctrl-C. A client does not survive ``os.fork``: start it in the process that uses it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hashlane_client import _hashlane_client
from hashlane_client._errors import ClientError, TorrentEnded, TorrentFailed
from hashlane_client._hashlane_client import Event, TorrentHandle
from hashlane_client._types import File, Peer, Tracker

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from hashlane_client._hashlane_client import Subscription

__all__ = [
    "Client",
    "ClientError",
    "Event",
    "Events",
    "File",
    "Peer",
    "TorrentEnded",
    "TorrentFailed",
    "TorrentHandle",
    "Tracker",
]


class Events:
    """The events of a client, from the call of :meth:`Client.events` to the end of the client.

    Iterate with ``for`` or ``async for``. A reader that is too slow loses events of pieces and warnings first, and an event of the
    kind ``missed`` reports how many. The end of a torrent is never lost.
    """

    STEP = 0.2
    """Longest time in seconds that a thread of the loop waits after ``async for`` was cancelled."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._waiting: asyncio.Future[Event | None] | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self._subscription.next(None)
        if event is None:
            raise StopIteration
        return event

    def next(self, timeout: float | None = None) -> Event | None:
        """Returns the next event, or None after the last one.

        Parameters
        ----------
        timeout : float or None
            Time to wait in seconds; None waits for ever.

        Raises
        ------
        TimeoutError
            There was no event in this time.
        """
        return self._subscription.next(timeout)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        loop = asyncio.get_running_loop()
        while True:
            # A task that is cancelled leaves its wait to the next call, so that no event is lost.
            if self._waiting is None:
                self._waiting = loop.run_in_executor(None, self._subscription.next, self.STEP)
            try:
                event = await asyncio.shield(self._waiting)
            except TimeoutError:
                self._waiting = None
                continue
            self._waiting = None
            if event is None:
                raise StopAsyncIteration
            return event


class Client(_hashlane_client.Client):
    """A client that downloads and seeds torrents on its own threads until it is stopped.

    Parameters
    ----------
    folder : path
        Folder for downloads.
    port : int
        Port for connections of peers; 0 for any free port.
    bind : str or None
        An IP address or the name of a network interface, which all connections use; None for all addresses.
    peers : list of str
        Peers to connect to, for every torrent: ``ADDRESS:PORT``.
    dht, local_discovery, port_mapping : bool
        Whether to find peers in the distributed hash table (BEP 5) and in the local network (BEP 14), and whether to ask routers for
        port mappings.
    max_down, max_up : int or None
        Limits in bytes per second.
    max_peers : int or None
        Maximum number of connected peers of all torrents.

    Raises
    ------
    ClientError
        The client cannot listen or start.
    """

    def events(self) -> Events:
        """Returns the events from now on."""
        return Events(self.subscribe())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
