"""Controls a daemon by a client that was generated from its description: use_generated_client.py URL TOKEN TORRENT FOLDER"""

import json
import sys
import time
from pathlib import Path

from hashlane_client import AuthenticatedClient, models
from hashlane_client.api.default import (
    get_config,
    get_limits,
    get_status,
    get_torrents,
    get_torrents_one,
    get_torrents_one_files,
    get_torrents_one_trackers,
    patch_config,
    post_batch,
    post_torrents,
    post_torrents_one,
)
from hashlane_client.models import (
    Addition,
    Batch,
    CommandPause,
    ConfigChange,
    Content,
    NewTorrent,
    Patch,
)
from hashlane_client.types import File


def check(is_so, what):
    if not is_so:
        sys.exit(f"unexpected: {what!r}")


def accepted(answer):
    check(answer.status_code == 202, answer)


def main(url, token, torrent, folder):
    client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)

    def wait_for(read, is_so):
        # A command is accepted before it has its effect.
        for _ in range(600):
            found = read()
            if is_so(found):
                return found
            time.sleep(0.1)
        sys.exit(f"not as expected: {found!r}")

    def wait_until(torrent, is_so):
        return wait_for(lambda: get_torrents_one.sync(torrent, client=client), is_so)

    def apply(action, **fields):
        name = "Command" + action.title().replace("_", "")
        command = getattr(models, name)(action=action, **fields)
        accepted(post_torrents_one.sync_detailed(key, client=client, body=command))

    options = NewTorrent(folder=folder, set_=Patch(labels=["a"]))
    with Path(torrent).open("rb") as file:
        body = File(payload=file)
        added = post_torrents.sync_detailed(client=client, body=body, options=json.dumps(options.to_dict()))
    check(added.status_code == 201, added)
    check(not added.parsed.present and added.parsed.title == "tree", added)
    key = added.parsed.info_hash
    link = Addition(link="1" * 40, options=NewTorrent(set_=Patch(title="a link")))
    for status in (201, 200):
        added = post_torrents.sync_detailed(client=client, body=link)
        check(added.status_code == status and added.parsed.present == (status == 200), added)
    shown = wait_until(key, lambda shown: shown.complete)
    check(shown.labels == ["a"] and shown.category is None, shown)
    check({one.info_hash for one in get_torrents.sync(client=client).torrents} == {key, "1" * 40}, "list")
    named = get_torrents.sync(client=client, torrent=["a link", key[:10]]).torrents
    check([one.name for one in named] == ["tree", "a link"], named)
    status = get_status.sync(client=client)
    check(status.torrents == 2 and status.problems == [], status)

    apply("pause")
    wait_until(key, lambda shown: shown.paused)
    apply("resume")
    apply("verify")
    wait_until(key, lambda shown: shown.complete and not shown.paused)
    apply("set", labels=["b"], seed_ratio=2.5, seed_seconds="never", max_down=None)
    pause = CommandPause(action="pause")
    results = post_batch.sync(client=client, body=Batch(change=pause, all_=True)).results
    check([result.status for result in results] == [202, 202], results)
    results = post_batch.sync(client=client, body=Batch(change=pause, torrents=["a link", "no torrent"])).results
    check([result.status for result in results] == [202, 404], results)
    check(results[0].found.info_hash == "1" * 40 and results[1].found is None, results)
    shown = wait_until(key, lambda shown: shown.paused)
    check(shown.labels == ["b"] and shown.seed_ratio == 2.5, shown)

    files = get_torrents_one_files.sync(key, client=client)
    check(files.total == len(files.files) > 0, files)
    tracker = "http://127.0.0.1:1/announce"
    apply("add_tracker", url=tracker)
    apply("remove_tracker", url=tracker)
    wait_for(lambda: get_torrents_one_trackers.sync(key, client=client).total, lambda total: total == 0)

    accepted(patch_config.sync_detailed(client=client, body=ConfigChange(max_up=100_000)))
    check(get_config.sync(client=client).bind == "127.0.0.1", "config")
    limits = {one.limit: one for one in get_limits.sync(client=client)}
    check(limits["max-up"].value == 100_000 and limits["max-up"].requested, limits)

    apply("remove", content=Content.DELETE)
    check(get_torrents_one.sync_detailed(key, client=client).status_code == 404, "deleted")
    wait_for(lambda: list(Path(folder).iterdir()), lambda left: left == [])
    print("ok")


main(*sys.argv[1:])
