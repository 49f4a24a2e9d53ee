"""Check content with libtorrent; print the intact pieces and the seconds as JSON.

Usage: libtorrent_check.py TORRENT FOLDER HASHING_THREADS
       libtorrent_check.py --version

The exit status is 0 if all pieces are present, 1 if not, 2 if the check failed. The seconds run
from adding the torrent to the end of its check, without the start of Python and of the session.
"""

import json
import resource
import sys
import time

import libtorrent

TIME_LIMIT_SECONDS = 240
WAIT_MILLISECONDS = 1000


def new_session(hashing_threads: int) -> libtorrent.session:
    """Start a session without network connections."""
    category = libtorrent.alert.category_t
    return libtorrent.session(
        {
            "alert_mask": category.status_notification
            | category.error_notification
            | category.storage_notification,
            "enable_dht": False,
            "enable_lsd": False,
            "enable_natpmp": False,
            "enable_upnp": False,
            "hashing_threads": hashing_threads,
            "listen_interfaces": "127.0.0.1:0",
        }
    )


def parameters(torrent: str, folder: str) -> libtorrent.add_torrent_params:
    """Return the parameters of the check; `stop_when_ready` prevents a download after it."""
    wanted = libtorrent.add_torrent_params()
    wanted.ti = libtorrent.torrent_info(torrent)
    wanted.save_path = folder
    wanted.flags = libtorrent.torrent_flags.stop_when_ready
    return wanted


def wait_until_checked(session: libtorrent.session) -> None:
    """Return when the torrent is checked; raise `RuntimeError` if it cannot be."""
    failures = (libtorrent.file_error_alert, libtorrent.torrent_error_alert)
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    while time.monotonic() < deadline:
        session.wait_for_alert(WAIT_MILLISECONDS)
        for alert in session.pop_alerts():
            if isinstance(alert, failures):
                raise RuntimeError(alert.message())
            if isinstance(alert, libtorrent.torrent_checked_alert):
                return
    raise RuntimeError(f"not checked after {TIME_LIMIT_SECONDS} seconds")


def check(torrent: str, folder: str, hashing_threads: int) -> dict:
    """Check a torrent, and return what `main` prints."""
    session = new_session(hashing_threads)
    wanted = parameters(torrent, folder)
    used_before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    handle = session.add_torrent(wanted)
    wait_until_checked(session)
    wall, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    have = handle.status(libtorrent.torrent_handle.query_pieces).pieces
    return {
        "have": sum(have),
        "pieces": wanted.ti.num_pieces(),
        "wall": wall,
        "user": used.ru_utime - used_before.ru_utime,
        "system": used.ru_stime - used_before.ru_stime,
    }


def main(arguments: list[str]) -> int:
    """Run the command line, and return the exit status."""
    if arguments == ["--version"]:
        print(libtorrent.__version__)
        return 0
    try:
        torrent, folder, hashing_threads = arguments
        result = check(torrent, folder, int(hashing_threads))
    except (RuntimeError, ValueError) as error:
        print(f"libtorrent_check: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result))
    return 0 if result["have"] == result["pieces"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
