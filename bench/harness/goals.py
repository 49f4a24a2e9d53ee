"""The performance goals of hashlane, and whether the figures of this run meet them."""

from collections.abc import Mapping, Sequence

from harness import one_pass
from harness.bench import CLASSIC_PIECE
from harness.goal import Goal, at_most
from harness.payloads import MIB, size_text
from harness.samples import Memory, Suite
from harness.suites import OTHER_PIECES
from harness.tools import ALL_THREADS, BOTH, ONE_THREAD
from harness.torrents import Version

LIBTORRENT = f"libtorrent-{ALL_THREADS.key}"
PIECES_LIMIT = 1.3
FILES_LIMIT = 2.0
# Twice the limit for one large file, with one thread and with all threads.
FILES_TO_OPENSSL_LIMITS = (2 * 0.27, 2 * 0.15)
SPARSE_LIMIT_SECONDS = 1.0
VERSION_2_LIMIT = 0.45
ONE_PASS_LIMIT = 1.15
CREATION_LIMIT = 1.1


def all_goals(suites: Sequence[Suite], memory: Sequence[Memory]) -> list[Goal]:
    """Compare every goal with the figures."""
    by_key = {suite.key: suite for suite in suites}
    return [
        *_classic_goals(by_key["classic"]),
        *_pieces_goals(by_key["pieces"]),
        *_files_goals(by_key["files"]),
        _sparse_goal(by_key["sparse"]),
        _version_2_goal(by_key["v2"]),
        _one_pass_goal(by_key["hybrid"]),
        *(goal for version in Version for goal in _creation_goals(by_key, version)),
        *_memory_goals(memory),
    ]


def _classic_goals(suite: Suite) -> list[Goal]:
    wanted = (
        ("hashlane-1", "openssl", "openssl sha1", "1 thread", 0.27),
        ("hashlane-all", "openssl", "openssl sha1", ALL_THREADS.text, 0.15),
        (
            "hashlane-all",
            LIBTORRENT,
            "libtorrent's check, both from start to exit",
            ALL_THREADS.text,
            0.19,
        ),
    )
    return [
        _ratio_goal(suite, f"Classic case, {threads} / {name}", key, baseline, limit)
        for key, baseline, name, threads, limit in wanted
    ]


def _pieces_goals(suite: Suite) -> list[Goal]:
    goals = []
    for threads in BOTH:
        baseline = f"pieces-{CLASSIC_PIECE}-{threads.key}"
        for length in OTHER_PIECES:
            key = f"pieces-{length}-{threads.key}"
            text = f"Pieces of {size_text(length)} / pieces of 256 KiB, {threads.text}"
            goals.append(_ratio_goal(suite, text, key, baseline, PIECES_LIMIT))
    return goals


def _files_goals(suite: Suite) -> list[Goal]:
    beside_openssl = zip(BOTH, FILES_TO_OPENSSL_LIMITS, strict=True)
    return [
        _ratio_goal(
            suite,
            f"Many small files, {threads.text} / openssl sha1 of them",
            f"many-{threads.key}",
            "openssl",
            limit,
        )
        for threads, limit in beside_openssl
    ] + [
        _ratio_goal(
            suite,
            f"Many small files / one large file, {threads.text}",
            f"many-{threads.key}",
            f"one-{threads.key}",
            FILES_LIMIT,
        )
        for threads in BOTH
    ]


def _version_2_goal(suite: Suite) -> Goal:
    text = f"Version 2, {ONE_THREAD.text} / openssl sha256"
    return _ratio_goal(suite, text, f"hashlane-{ONE_THREAD.key}", "openssl", VERSION_2_LIMIT)


def _one_pass_goal(suite: Suite) -> Goal:
    text = f"Hybrid in one pass, {ONE_THREAD.text} / its two hashes and one reading (see there)"
    by_median, by_minimum = (one_pass.ratio(suite, figure) for figure in ("median", "minimum"))
    return _goal_of(text, by_median, by_minimum, ONE_PASS_LIMIT)


def _creation_goals(suites: Mapping[str, Suite], version: Version) -> list[Goal]:
    suite = suites[f"create-{version}"]
    return [
        _ratio_goal(
            suite,
            f"Creation, {version}, {threads.text} / verification of the same",
            f"create-{threads.key}",
            f"verify-{threads.key}",
            CREATION_LIMIT,
        )
        for threads in BOTH
    ]


def _ratio_goal(suite: Suite, text: str, key: str, baseline: str, limit: float) -> Goal:
    by_median, by_minimum = (suite.ratio(key, baseline, figure) for figure in ("median", "minimum"))
    return _goal_of(text, by_median, by_minimum, limit)


def _goal_of(text: str, by_median: float | None, by_minimum: float | None, limit: float) -> Goal:
    fastest = "-" if by_minimum is None else f"{by_minimum:.3f}"
    return at_most(text, by_median, limit, detail=fastest)


def _sparse_goal(suite: Suite) -> Goal:
    slowest = max(suite.series, key=lambda series: series.median)
    return Goal(
        f"Large hole, the slower of {' and '.join(threads.text for threads in BOTH)}",
        f"under {SPARSE_LIMIT_SECONDS:.0f} s",
        f"{slowest.median:.3f} s",
        f"{slowest.minimum:.3f} s",
        slowest.median < SPARSE_LIMIT_SECONDS,
    )


def _memory_goals(memory: Sequence[Memory]) -> list[Goal]:
    goals = []
    for threads in BOTH:
        rows = [row for row in memory if row.threads == threads.count]
        worst = max(rows, key=lambda row: row.peak_bytes)
        goals.append(
            Goal(
                f"Peak resident memory, {threads.text}, worst case ({worst.case}, {worst.way})",
                f"at most {worst.bound_bytes / MIB:.0f} MiB",
                f"{worst.peak_bytes / MIB:.1f} MiB",
                "",
                worst.peak_bytes <= worst.bound_bytes,
            )
        )
    return goals
