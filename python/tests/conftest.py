"""Settings of all tests."""

import pytest
from hypothesis import settings

# A busy machine is slow, which is no failure.
settings.register_profile("hashlane", deadline=None)
settings.load_profile("hashlane")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reports each test that was not run. The reason of a skip says why, and how to get what is missing."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.startswith("could not import"):
            reason += "; pip install 'hashlane[test]'"
        terminalreporter.write_line(f"NOT RUN: {report.nodeid}, because {reason}")
