"""Controls a daemon by a client that was generated from its description: use_generated_client.py URL TOKEN TORRENT FOLDER"""

import sys
import time
from pathlib import Path

from hashlane_client import AuthenticatedClient
from hashlane_client.api.default import (
    get_config,
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
    Batch,
    Command,
    CommandAction,
    CommandContent,
    ConfigChange,
    Link,
)
from hashlane_client.types import File


def check(is_so, what):
    if not is_so:
        sys.exit(f"unexpected: {what!r}")


def accepted(answer):
    check(answer.status_code == 202, answer)


def main(url, token, torrent, folder):
    client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)

    def wait_until(torrent, is_so):
        for _ in range(600):
            shown = get_torrents_one.sync(torrent, client=client)
            if is_so(shown):
                return shown
            time.sleep(0.1)
        sys.exit(f"not as expected: {shown!r}")

    def apply(action, **fields):
        command = Command(action=CommandAction(action), **fields)
        accepted(post_torrents_one.sync_detailed(key, client=client, body=command))

    with Path(torrent).open("rb") as file:
        added = post_torrents.sync_detailed(client=client, body=File(payload=file), folder=folder, label=["a"])
    check(added.status_code == 201, added)
    key = added.parsed.info_hash
    link = post_torrents.sync_detailed(client=client, body=Link(link="1" * 40))
    check(link.status_code == 201, link)
    shown = wait_until(key, lambda shown: shown.complete)
    check(shown.labels == ["a"] and shown.category is None, shown)
    check({one.info_hash for one in get_torrents.sync(client=client).torrents} == {key, "1" * 40}, "list")

    apply("pause")
    wait_until(key, lambda shown: shown.paused)
    apply("resume")
    apply("verify")
    wait_until(key, lambda shown: shown.complete and not shown.paused)
    apply("set", labels=["b"], seed_ratio=2.5, seed_seconds="never", max_down=None)
    pause = Command(action=CommandAction.PAUSE)
    results = post_batch.sync(client=client, body=Batch(change=pause, all_=True)).results
    check([result.status for result in results] == [202, 202], results)
    shown = wait_until(key, lambda shown: shown.paused)
    check(shown.labels == ["b"] and shown.seed_ratio == 2.5, shown)

    files = get_torrents_one_files.sync(key, client=client)
    check(files.total == len(files.files) > 0, files)
    tracker = "http://127.0.0.1:1/announce"
    apply("add_tracker", url=tracker)
    apply("remove_tracker", url=tracker)
    check(get_torrents_one_trackers.sync(key, client=client).total == 0, "trackers")

    accepted(patch_config.sync_detailed(client=client, body=ConfigChange(max_up=100_000)))
    check(get_config.sync(client=client).bind == "127.0.0.1", "config")

    apply("remove", content=CommandContent.DELETE)
    check(get_torrents_one.sync_detailed(key, client=client).status_code == 404, "deleted")
    for _ in range(600):
        if not any(Path(folder).iterdir()):
            break
        time.sleep(0.1)
    else:
        sys.exit("the content was not deleted")
    print("ok")


main(*sys.argv[1:])
