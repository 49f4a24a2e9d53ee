"""Download a torrent from one peer with libtorrent's own disk and settings: a plain client.

Usage: libtorrent_get.py TORRENT FOLDER HOST:PORT
"""

import os
import sys
import time

import libtorrent

POLL_SECONDS = 0.05


def main() -> None:
    """Download it, and end at once."""
    torrent, folder, peer = sys.argv[1:]
    host, port = peer.rsplit(":", 1)
    session = libtorrent.session(
        {
            "enable_dht": False,
            "enable_lsd": False,
            "enable_natpmp": False,
            "enable_upnp": False,
            # On loopback it loses packets, and waits for its timers.
            "enable_incoming_utp": False,
            "enable_outgoing_utp": False,
            "listen_interfaces": "127.0.0.1:0",
        }
    )
    handle = session.add_torrent({"ti": libtorrent.torrent_info(torrent), "save_path": folder})
    while not (status := handle.status()).is_seeding:
        if status.num_peers == 0:
            handle.connect_peer((host, int(port)))
        time.sleep(POLL_SECONDS)
    # What it would do to end is not measured, as our `get` does its verification instead.
    os._exit(0)


if __name__ == "__main__":
    main()
