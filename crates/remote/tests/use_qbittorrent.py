"""Calls every method of the adapter through qbittorrent-api: use_qbittorrent.py HOST USER PASSWORD TORRENT"""

import sys
from pathlib import Path

import qbittorrentapi

MAGNET = "magnet:?xt=urn:btih:11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a&dn=linked"
LINKED = "11e84f0b5f3a06e4e10f3b4ac7e36a2a5d1d8b0a"


def check(is_right, what):
    if not is_right:
        sys.exit(f"wrong: {what}")


def equal(value, expected, what):
    check(value == expected, f"{what}: {value!r} instead of {expected!r}")


def refused(error, method, **arguments):
    try:
        method(**arguments)
    except error:
        return
    sys.exit(f"not refused: {method.__name__} {arguments}")


def check_auth(host, user, password):
    wrong = qbittorrentapi.Client(host, username=user, password=password + "x")
    refused(qbittorrentapi.LoginFailed, wrong.auth_log_in)
    client = qbittorrentapi.Client(
        host, username=user, password=password, RAISE_NOTIMPLEMENTEDERROR_FOR_UNIMPLEMENTED_API_ENDPOINTS=True
    )
    client.auth_log_in()
    check(client.is_logged_in, "logged in")
    client.auth_log_out()
    check(not client.is_logged_in, "logged out")
    client.auth_log_in()
    return client


def check_app(client):
    equal(client.app_version(), "v5.0.5", "version")
    equal(client.app_web_api_version(), "2.11.2", "Web API version")
    check(qbittorrentapi.Version.is_app_version_supported(client.app_version()), "a version that is known")
    equal(client.app_build_info().bitness, 64, "bitness")
    equal(client.app_default_save_path(), "/downloads", "default folder")
    before = client.app_preferences()
    client.app_set_preferences(before)
    equal(client.app_preferences(), before, "the settings as they were")
    client.app_set_preferences({"max_ratio": 2.5, "max_seeding_time_enabled": True, "max_seeding_time": 90})
    after = client.app_preferences()
    equal((after.max_ratio, after.max_seeding_time), (2.5, 90), "goals")
    program = {"autorun_enabled": True, "autorun_program": "/bin/sh"}
    refused(qbittorrentapi.Forbidden403Error, client.app_set_preferences, prefs=program)
    refused(qbittorrentapi.Conflict409Error, client.app_set_preferences, prefs={"dht": False})
    refused(qbittorrentapi.Forbidden403Error, client.app_shutdown)


def check_transfer(client):
    equal(client.transfer_info().connection_status, "connected", "connection")
    client.transfer_set_download_limit(1000)
    client.transfer_set_upload_limit(2000)
    equal((client.transfer_download_limit(), client.transfer_upload_limit()), (1000, 2000), "limits")
    equal(client.transfer_speed_limits_mode(), "0", "mode of limits")


def add(client, torrent):
    added = client.torrents_add(
        torrent_files=Path(torrent).read_bytes(),
        save_path="/other",
        category="tv",
        tags=["one", "two"],
        is_stopped=True,
        is_skip_checking=True,
        content_layout="Original",
        rename="shown",
        upload_limit=5000,
        download_limit=6000,
        ratio_limit=1.5,
        seeding_time_limit=60,
        inactive_seeding_time_limit=30,
        is_sequential_download=True,
        is_first_last_piece_priority=True,
        use_auto_torrent_management=False,
        add_to_top_of_queue=True,
    )
    equal(added, "Ok.", "a file")
    equal(client.torrents_add(urls=[MAGNET]), "Ok.", "a link")
    equal(client.torrents_add(urls=[MAGNET]), "Fails.", "the same link")
    broken = {"broken": b"d4:infoe"}
    refused(qbittorrentapi.UnsupportedMediaType415Error, client.torrents_add, torrent_files=broken)
    refused(qbittorrentapi.Forbidden403Error, client.torrents_add, urls=["/etc/passwd"])
    equal(client.torrents_count(), 2, "count")


def check_shown(client, torrent):
    demo = client.torrents_info(sort="added_on", category="tv", tag="two")[0]
    equal(demo.name, "shown", "name")
    equal((demo.state, demo.state_enum.is_stopped), ("stoppedDL", True), "state")
    equal((demo.save_path, demo.category, demo.tags), ("/other", "tv", "one, two"), "choices")
    equal((demo.ratio_limit, demo.seeding_time_limit, demo.inactive_seeding_time_limit), (1.5, 60, 30), "goals")
    equal((demo.up_limit, demo.dl_limit, demo.seq_dl), (5000, 6000, True), "limits")
    hashes = [row.hash for row in client.torrents_info(torrent_hashes=[LINKED])]
    equal(hashes, [LINKED], "by info-hash")
    for status, count in [
        ("all", 2),
        ("stopped", 1),
        ("running", 1),
        ("downloading", 2),
        ("completed", 0),
        ("errored", 0),
    ]:
        equal(len(client.torrents_info(status_filter=status)), count, status)
    equal(len(client.torrents_info(limit=1, offset=1, reverse=True)), 1, "a page")
    equal(client.torrents_properties(demo.hash).pieces_num, 10, "pieces")
    equal(client.torrents_files(demo.hash)[0].name, "union-addresses", "file")
    urls = [row.url for row in client.torrents_trackers(demo.hash)]
    equal(urls[:3], ["** [DHT] **", "** [PeX] **", "** [LSD] **"], "sources")
    check(urls[3].startswith("http://tracker.example.com"), "tracker")
    equal(client.torrents_piece_states(demo.hash)[:1], [2], "states of pieces")
    check(len(client.torrents_piece_hashes(demo.hash)[0]) == 40, "digests of pieces")
    equal(list(client.torrents_webseeds(demo.hash)), [], "web seeds")
    equal(client.torrents_export(demo.hash), Path(torrent).read_bytes(), "export")
    refused(qbittorrentapi.Conflict409Error, client.torrents_export, torrent_hash=LINKED)
    refused(qbittorrentapi.NotFound404Error, client.torrents_properties, torrent_hash="0" * 40)
    refused(qbittorrentapi.MissingRequiredParameters400Error, client.torrents_properties)
    return demo.hash


def check_changes(client, demo):
    def get():
        return client.torrents_info(torrent_hashes=demo)[0]

    client.torrents_start(demo)
    equal(get().state, "stalledDL", "started")
    client.torrents_resume(demo)
    client.torrents_stop(demo)
    equal(get().state, "stoppedDL", "stopped")
    client.torrents_pause(demo)
    client.torrents_set_force_start(True, demo)
    equal((get().state, get().force_start), ("forcedDL", True), "forced")
    client.torrents_recheck(demo)
    equal(get().state, "checkingDL", "checked")
    client.torrents_reannounce(demo)
    client.torrents_top_priority(demo)
    client.torrents_bottom_priority(demo)
    client.torrents_increase_priority(demo)
    client.torrents_decrease_priority(demo)
    client.torrents_toggle_sequential_download(demo)
    equal(get().seq_dl, False, "in order")
    client.torrents_set_auto_management(False, demo)
    refused(qbittorrentapi.Conflict409Error, client.torrents_set_auto_management, enable=True, torrent_hashes=demo)
    client.torrents_set_share_limits(2.5, 70, -1, torrent_hashes=demo)
    equal((get().ratio_limit, get().seeding_time_limit, get().inactive_seeding_time_limit), (2.5, 70, -1), "goals")
    client.torrents_set_download_limit(111, demo)
    client.torrents_set_upload_limit(222, demo)
    equal(client.torrents_download_limit(demo)[demo], 111, "download limit")
    equal(client.torrents_upload_limit(demo)[demo], 222, "upload limit")
    client.torrents_set_location("/moved", demo)
    equal(get().save_path, "/moved", "folder")
    refused(
        qbittorrentapi.InvalidRequest400Error, client.torrents_set_location, location="relative", torrent_hashes=demo
    )
    client.torrents_rename(demo, "renamed")
    equal(get().name, "renamed", "name")
    client.torrents_rename_file(demo, old_path="union-addresses", new_path="file")
    equal(client.torrents_files(demo)[0].name, "file", "name of a file")
    refused(
        qbittorrentapi.Conflict409Error, client.torrents_rename_folder, torrent_hash=demo, old_path="a", new_path="b"
    )
    client.torrents_rename_file(demo, old_path="file", new_path="b/file")
    client.torrents_rename_folder(demo, old_path="b", new_path="c")
    equal(client.torrents_files(demo)[0].name, "c/file", "name of a folder")
    refused(
        qbittorrentapi.Conflict409Error,
        client.torrents_rename_file,
        torrent_hash=demo,
        old_path="c/file",
        new_path="../file",
    )
    client.torrents_file_priority(demo, 0, 0)
    equal(client.torrents_files(demo)[0].priority, 0, "not selected")
    client.torrents_file_priority(demo, 0, 7)
    equal(client.torrents_files(demo)[0].priority, 6, "high")
    refused(qbittorrentapi.Conflict409Error, client.torrents_file_priority, torrent_hash=demo, file_ids=9, priority=1)
    client.torrents_add_trackers(demo, ["http://other.example/announce"])
    equal(client.torrents_trackers(demo)[-1].url, "http://other.example/announce", "a new tracker")
    client.torrents_edit_tracker(demo, "http://other.example/announce", "udp://other.example")
    equal(client.torrents_trackers(demo)[-1].url, "udp://other.example", "a replaced tracker")
    client.torrents_remove_trackers(demo, ["udp://other.example"])
    urls = [row.url for row in client.torrents_trackers(demo)]
    check("udp://other.example" not in urls, "a removed tracker")


def check_groups(client, demo):
    client.torrents_create_category("films", "/films")
    client.torrents_edit_category("films", "/new")
    equal(client.torrents_categories()["films"].savePath, "/new", "category")
    refused(qbittorrentapi.Conflict409Error, client.torrents_create_category, name="films")
    refused(qbittorrentapi.Conflict409Error, client.torrents_set_category, category="none", torrent_hashes=demo)
    client.torrents_set_category("films", demo)
    equal(client.torrents_info(torrent_hashes=demo)[0].category, "films", "category")
    client.torrents_remove_categories(["films", "tv"])
    equal(client.torrents_categories(), {}, "no category")
    client.torrents_create_tags(["unused"])
    client.torrents_add_tags(["three"], demo)
    equal(list(client.torrents_tags()), ["one", "three", "two", "unused"], "tags")
    client.torrents_remove_tags(["one"], demo)
    equal(client.torrents_info(torrent_hashes=demo)[0].tags, "three, two", "tags of a torrent")
    client.torrents_delete_tags(["unused", "two"])
    equal(list(client.torrents_tags()), ["one", "three"], "a tag")


def check_sync(client, demo):
    data = client.sync_maindata()
    check(data.full_update and demo in data.torrents, "everything")
    again = client.sync_maindata(data.rid)
    check("torrents" not in again and "full_update" not in again, "no changes")
    client.torrents_set_upload_limit(333, demo)
    delta = client.sync_maindata(again.rid)
    equal(dict(delta.torrents[demo]), {"up_limit": 333}, "a change")
    check(client.sync_torrent_peers(demo).peers["192.0.2.7:6881"].client == "Peer 1.0", "peer")
    # The client of the library remembers the number.
    check("full_update" in client.sync.maindata.delta(), "everything first")
    client.torrents_delete(delete_files=True, torrent_hashes=demo)
    equal(list(client.sync.maindata.delta().torrents_removed), [demo], "a removed torrent")
    client.torrents_delete(torrent_hashes="all")
    equal(client.torrents_info(), [], "no torrents")


def main():
    host, user, password, torrent = sys.argv[1:]
    client = check_auth(host, user, password)
    check_app(client)
    check_transfer(client)
    add(client, torrent)
    demo = check_shown(client, torrent)
    check_changes(client, demo)
    check_groups(client, demo)
    check_sync(client, demo)
    print("ok")


main()
