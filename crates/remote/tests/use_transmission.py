"""Calls every method of the adapter through transmission-rpc: use_transmission.py HOST PORT USER PASSWORD TORRENT"""

import logging
import sys
from pathlib import Path

import transmission_rpc

MAGNET = "magnet:?xt=urn:btih:11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a&dn=linked"


def check(is_right, what):
    if not is_right:
        sys.exit(f"wrong: {what}")


def equal(value, expected, what):
    check(value == expected, f"{what}: {value!r} instead of {expected!r}")


def refused(method, *arguments, **named):
    try:
        method(*arguments, **named)
    except transmission_rpc.TransmissionError:
        return
    sys.exit(f"not refused: {method.__name__} {arguments} {named}")


def check_session(client):
    equal((client.rpc_version, client.semver_version), (17, "5.3.0"), "versions")
    check(client.server_version.startswith("4.0."), "version of the program")
    session = client.get_session()
    equal((session.download_dir, session.seed_ratio_limit), ("/downloads", 2.0), "settings")
    client.set_session(
        download_dir="/new",
        speed_limit_down=100,
        speed_limit_down_enabled=True,
        speed_limit_up_enabled=False,
        seed_ratio_limit=3.5,
        seed_ratio_limited=True,
        idle_seeding_limit=7,
        idle_seeding_limit_enabled=True,
        download_queue_enabled=True,
        download_queue_size=9,
        seed_queue_enabled=False,
        start_added_torrents=True,
        dht_enabled=True,
        encryption="preferred",
        peer_port=6999,
    )
    session = client.get_session()
    equal((session.speed_limit_down, session.seed_ratio_limit), (100, 3.5), "new settings")
    equal((session.idle_seeding_limit, session.download_queue_size, session.peer_port), (7, 9, 6999), "new settings")
    client.set_session(download_dir="/downloads")
    refused(client.set_session, script_torrent_done_enabled=True, script_torrent_done_filename="/bin/sh")
    refused(client.set_session, dht_enabled=False)
    equal(client.session_stats().torrent_count, 0, "statistics")
    equal(client.free_space("/downloads"), 1 << 40, "free space")
    refused(client.free_space, "/missing")
    equal(client.get_groups(), {}, "groups")
    equal(client.get_group("slow"), None, "a group")
    refused(client.set_group, "slow")
    refused(client.blocklist_update)
    refused(client.port_test)


def check_torrents(client, path):
    added = client.add_torrent(
        Path(path), download_dir="/other", paused=True, labels=["one", "two"], files_wanted=[0], priority_high=[0]
    )
    equal(added.name, "union-addresses", "the name of an added torrent")
    equal(client.add_torrent(Path(path).read_bytes()).id, added.id, "the same torrent")
    linked = client.add_torrent(MAGNET)
    refused(client.add_torrent, "/etc/passwd")
    # The program asks for all fields that it knows.
    torrents = client.get_torrents()
    equal([torrent.id for torrent in torrents], [added.id, linked.id], "torrents")
    torrent = client.get_torrent(added.hash_string)
    equal((torrent.status, torrent.download_dir, torrent.labels), ("stopped", "/other", ["one", "two"]), "torrent")
    equal((torrent.progress, torrent.percent_done, torrent.left_until_done > 0), (50.0, 0.5, True), "progress")
    equal([file.name for file in torrent.get_files()], ["union-addresses"], "files")
    check(torrent.get_files()[0].selected, "the file is selected")
    equal(torrent.trackers[0].announce, "http://tracker.example.com:80/announce?passkey=1", "tracker")
    equal(torrent.tracker_stats[0].seeder_count, 3, "seeds of the tracker")
    equal((torrent.piece_count, torrent.ratio, torrent.eta.total_seconds()), (10, 1.5, 90.0), "numbers")
    equal(torrent.added_date.timestamp(), 1_700_000_000, "date")
    active, removed = client.get_recently_active_torrents()
    equal((active, removed), ([], []), "nothing is recent")
    return added.id, linked.id


def check_changes(client, one, two):
    client.start_torrent(one)
    equal(client.get_torrent(one).status, "downloading", "started")
    client.start_torrent([one], bypass_queue=True)
    client.start_torrent_now(one)
    client.stop_torrent([one, two])
    equal([torrent.status for torrent in client.get_torrents()], ["stopped", "stopped"], "stopped")
    client.start_all()
    equal([torrent.status for torrent in client.get_torrents()], ["downloading", "downloading"], "all started")
    client.verify_torrent(one)
    equal(client.get_torrent(one).status, "checking", "verified")
    client.reannounce_torrent(one)
    client.queue_top(one)
    client.queue_up(one)
    client.queue_down(one)
    client.queue_bottom(one)
    client.move_torrent_data(one, "/moved")
    equal(client.get_torrent(one).download_dir, "/moved", "moved")
    equal(client.rename_torrent_path(one, "union-addresses", "renamed"), ("union-addresses", "renamed"), "renamed")
    equal(client.get_torrent(one).get_files()[0].name, "renamed", "renamed")
    client.change_torrent(
        one,
        labels=["three"],
        download_limit=100,
        download_limited=True,
        upload_limit=50,
        upload_limited=True,
        seed_ratio_limit=1.5,
        seed_ratio_mode=1,
        seed_idle_limit=30,
        seed_idle_mode=1,
        files_unwanted=[0],
        queue_position=0,
        tracker_add=["http://other.example/announce"],
    )
    torrent = client.get_torrent(one)
    equal((torrent.labels, torrent.download_limit, torrent.upload_limit), (["three"], 100, 50), "changed")
    equal((torrent.seed_ratio_limit, torrent.seed_idle_limit, torrent.wanted), (1.5, 30, [0]), "changed")
    equal(torrent.trackers[-1].announce, "http://other.example/announce", "a new tracker")
    client.change_torrent(one, tracker_replace=[(2, "udp://other.example")])
    equal(client.get_torrent(one).trackers[-1].announce, "udp://other.example", "a replaced tracker")
    client.change_torrent(one, tracker_remove=[0])
    equal(len(client.get_torrent(one).trackers), 2, "a removed tracker")
    client.change_torrent(one, tracker_list=[["http://a.example/x"], ["udp://b.example"]])
    announced = [tracker.announce for tracker in client.get_torrent(one).trackers]
    equal(announced, ["http://a.example/x", "udp://b.example"], "all trackers")
    refused(client.change_torrent, one, tracker_remove=[7])
    refused(client.change_torrent, one, group="slow")
    client.remove_torrent(two)
    equal(client.get_recently_active_torrents()[1], [two], "removed")
    client.remove_torrent(one, delete_data=True)
    equal(client.get_torrents(), [], "no torrents")


def main():
    host, port, user, password, path = sys.argv[1:]
    logging.disable()
    try:
        transmission_rpc.Client(host=host, port=int(port), username=user, password=password + "x")
    except transmission_rpc.TransmissionAuthError:
        pass
    else:
        sys.exit("a wrong password was accepted")
    client = transmission_rpc.Client(host=host, port=int(port), username=user, password=password)
    check_session(client)
    one, two = check_torrents(client, path)
    check_changes(client, one, two)
    print("ok")


main()
