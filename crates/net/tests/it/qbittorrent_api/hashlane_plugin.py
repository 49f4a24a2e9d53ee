"""Runs tests of qbittorrent-api against a daemon of Hashlane: without foreign sites, and without the tests in excluded.txt.

RESOURCES_URL is the URL of a server with the .torrent files that the tests would fetch from another site.
"""

import os
from pathlib import Path

import pytest
import qbittorrentapi

# Settings that the tests' client makes before the first test, and that Hashlane does not have.
REFUSED = {"rss_processing_enabled", "web_ui_max_auth_fail_count", "web_ui_ban_duration"}


def pytest_configure():
    set_preferences = qbittorrentapi.Client.app_set_preferences

    def without_refused(self, prefs=None, **kwargs):
        prefs = {name: value for name, value in (prefs or {}).items() if name not in REFUSED}
        return set_preferences(self, prefs=prefs, **kwargs)

    qbittorrentapi.Client.app_set_preferences = without_refused


def excluded():
    """Returns the excluded tests. A line has the name of a test, and the reason after a colon."""
    lines = (Path(__file__).parent / "excluded.txt").read_text().splitlines()
    tests = [line.partition(":") for line in lines if line and not line.startswith("#")]
    return {test.strip() for test, _, _ in tests}


def pytest_collection_modifyitems(config, items):
    # Each module has its own copy of the URLs.
    plugins = config.pluginmanager.list_name_plugin()
    modules = [plugin for name, plugin in plugins if name.endswith("conftest.py")]
    for module in {item.module for item in items}.union(modules):
        for name in [name for name in vars(module) if name.endswith("_URL")]:
            file = getattr(module, name).rpartition("/")[2]
            setattr(module, name, f"{os.environ['RESOURCES_URL']}/{file}")
    names = excluded()
    unknown = names - {item.originalname for item in items}
    if unknown:
        raise pytest.UsageError(f"excluded.txt: no such test: {', '.join(sorted(unknown))}")
    out = [item for item in items if item.originalname in names]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item.originalname not in names]
