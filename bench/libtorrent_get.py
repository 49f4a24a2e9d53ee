"""Download a torrent from one peer with libtorrent's own disk and settings: a plain client.

Usage: libtorrent_get.py TORRENT FOLDER HOST:PORT
"""

import sys
import time

import libtorrent

POLL_SECONDS = 0.05


def main() -> None:
    """Download the torrent."""
    torrent, folder, peer = sys.argv[1:]
    host, port = peer.rsplit(":", 1)
    session = libtorrent.session(
        {
            "enable_dht": False,
            "enable_lsd": False,
            "enable_natpmp": False,
            "enable_upnp": False,
            # uTP loses packets on loopback and waits for its timers.
            "enable_incoming_utp": False,
            "enable_outgoing_utp": False,
            "listen_interfaces": "127.0.0.1:0",
        }
    )
    wanted = libtorrent.add_torrent_params()
    wanted.ti = libtorrent.torrent_info(torrent)
    wanted.save_path = folder
    handle = session.add_torrent(wanted)
    while not (status := handle.status()).is_seeding:
        if status.num_peers == 0:
            handle.connect_peer((host, int(port)))
        time.sleep(POLL_SECONDS)
    # Wait for the session's end: before it, a finished piece may not be in the file yet.
    del handle, session


if __name__ == "__main__":
    main()
