"""The goals of the engine, and the floors between its kernels."""

from collections.abc import Iterator

from harness.engine_samples import (
    ALGORITHMS,
    DETECTOR,
    ENGINE,
    ENGINE_AVX2,
    ENGINE_SINGLE,
    MESSAGE_LEN,
    Group,
    Results,
    Row,
    ratio,
)
from harness.goal import Goal, at_least

# Limit for a single stream and for few messages, which allows three percent of noise.
NO_SLOWER = 0.97
LARGE = (4096, 16384)


def engine_goals(results: Results) -> list[Goal]:
    """Return every goal."""
    return [
        *_large_messages(results),
        *_one_message(results),
        *_short_messages(results),
        *(
            _goal(
                f"{group.algorithm}, 1 byte to 1 MiB / equal lengths",
                0.85,
                group.row("log-uniform"),
                group.row("equal"),
            )
            for group in results.groups("unequal")
        ),
        *map(_shortage, results.groups("shortage")),
        *_checked(results),
        *(
            _goal(
                f"MD5, many messages of {group.message_len} bytes / OpenSSL",
                2.0,
                group.row(ENGINE),
                group.openssl,
            )
            for group in results.groups("md5")
        ),
    ]


def _goal(text: str, limit: float, above: Row | None, below: Row | None) -> Goal:
    measured = ratio(above, below)
    if measured is None:
        return at_least(text, None, limit, detail="-")
    return at_least(text, measured.median, limit, detail=measured.spread)


def _large_messages(results: Results) -> Iterator[Goal]:
    groups = {
        algorithm: [one for one in results.of("sizes", algorithm) if one.message_len in LARGE]
        for algorithm in ALGORITHMS
    }
    for algorithm, limit in zip(ALGORITHMS, (3.6, 2.4), strict=True):
        for group in groups[algorithm]:
            what = f"{algorithm}, many messages of {group.message_len // 1024} KiB"
            engine = group.row(ENGINE)
            yield _goal(f"{what} / OpenSSL", limit, engine, group.openssl)
            yield _goal(f"{what} / ipsec-mb", 1.0, engine, group.ipsec_mb)
    for group in groups["SHA-1"]:
        what = f"SHA-1, many messages of {group.message_len // 1024} KiB, AVX2 only / OpenSSL"
        yield _goal(what, 1.7, group.row(ENGINE_AVX2), group.openssl)


def _one_message(results: Results) -> Iterator[Goal]:
    for group in results.groups("levels"):
        what = f"{group.algorithm}, one message, {group.level} / OpenSSL"
        yield _goal(what, NO_SLOWER, group.kernel, group.openssl)


def _short_messages(results: Results) -> Iterator[Goal]:
    short = results.groups("short")
    for group in short:
        what = f"{group.algorithm}, messages of 64 bytes / OpenSSL's faster one-shot"
        yield _goal(what, 3.0, group.row(ENGINE), group.openssl_one_shot)
    for group in short:
        what = f"{group.algorithm}, one message of 64 bytes / RustCrypto"
        yield _goal(what, NO_SLOWER, group.row(ENGINE_SINGLE), group.rustcrypto)
    for group in results.groups("updates"):
        what = f"{group.algorithm}, updates of {group.update_len} bytes / RustCrypto"
        yield _goal(what, NO_SLOWER, group.row(ENGINE), group.rustcrypto)


def _shortage(group: Group) -> Goal:
    """Return the goal for the number of messages with the lowest ratio."""
    pairs = [
        (row, single)
        for row in group.rows
        if row.name == ENGINE and (single := group.row(ENGINE_SINGLE, row.n_messages))
    ]
    many, single = min(pairs, key=lambda pair: ratio(*pair).median, default=(None, None))
    what = (
        f"{group.algorithm}, 1 to 16 messages of {group.message_len} bytes / one by one, at worst"
    )
    return _goal(f"{what} ({many.n_messages if many else 0})", NO_SLOWER, many, single)


def _checked(results: Results) -> Iterator[Goal]:
    """Return the goals for SHA-1 with the detection of attacks."""
    for group in results.groups("checked"):
        what = f"checked SHA-1, messages of {group.message_len} bytes"
        for row, unchecked in _checked_kernels(group):
            kernel = unchecked.name.removeprefix("sha1_")
            yield _goal(f"{what}, {kernel} / unchecked", 0.6, row, unchecked)
        for kernel, limit in (("x8_avx2", 3.5), ("x16_avx512", 9.0)):
            if row := group.row(f"sha1_checked_{kernel}"):
                yield _goal(f"{what}, {kernel} / {DETECTOR}", limit, row, group.detector)
        if group.row("sha1_x1_sha_ni"):
            single = group.row(ENGINE_SINGLE)
            yield _goal(f"{what}, one by one / {DETECTOR}", 2.0, single, group.detector)


def _checked_kernels(group: Group) -> list[tuple[Row, Row]]:
    """Return the kernels of several lanes, each with the same kernel without the detection."""
    pairs = [(row, group.row(row.name.replace("sha1_checked_x", "sha1_x"))) for row in group.rows]
    return [
        (row, other)
        for row, other in pairs
        if other and other is not row and "_x1_" not in row.name
    ]


# Two kernels, and the lowest ratio of the first to the second for each algorithm. Lost inlining
# slows a kernel up to 60 times, and no test detects it. Each floor is at least a fifth below the
# ratio on a Xeon of the Sapphire Rapids generation, so that other CPUs and busy machines pass. The
# floor of x16_avx512 is lower, because Zen 4 computes with half of a vector of 512 bits at a time:
# 1.58 for SHA-1, 1.90 for SHA-256 (2026-11-26).
FLOORS = (
    ("x4_sse2", "x1_portable", 1.5, 1.5),
    ("x4_avx", "x1_portable", 1.5, 1.5),
    ("x8_avx2", "x4_sse2", 1.5, 1.5),
    ("x8_avx512vl", "x8_avx2", 1.3, 1.4),
    ("x16_avx512", "x8_avx2", 1.4, 1.4),
    ("x1_sha_ni", "x1_portable", 1.8, 2.5),
    ("x2_sha_ni", "x1_sha_ni", 0.95, 0.95),
    ("x4_sha_ni", "x2_sha_ni", 0.65, 0.75),
    ("x1_sse2", "x1_portable", 0.9, 0.9),
    ("x1_ssse3", "x1_portable", 0.9, 0.9),
    ("x1_avx", "x1_portable", 0.9, 0.9),
    ("x1_avx2", "x1_portable", 0.9, 0.9),
    # RustCrypto may run on the SHA extensions, but no other floor covers the portable kernel.
    ("x1_portable", "RustCrypto", 0.2, 0.1),
)


# Two groups of lanes of MD5, beside one. Without the turns of the groups, the ratio is at most 1.
# The best of 40 runs have 1.61 on Zen 3 (family 25 model 1, 2026-12-01). It is lower while another
# program uses the ports of the core.
GROUPS_FLOOR = ("md5_x16_avx2", "md5_x8_avx2", 1.15)


def floors(results: Results) -> Iterator[Goal]:
    """Return the floors of kernels that this CPU has, and the engine beside its best kernel."""
    for group in results.groups("sizes"):
        if group.message_len != MESSAGE_LEN:
            continue
        prefix = group.algorithm.replace("-", "").lower()
        for above, below, *limits in FLOORS:
            kernel = group.row(f"{prefix}_{above}")
            other = group.row(f"{prefix}_{below}") or group.fastest(below)
            if kernel and other:
                limit = dict(zip(ALGORITHMS, limits, strict=True))[group.algorithm]
                yield _goal(f"{group.algorithm} {above} / {below}", limit, kernel, other)
        what = f"{group.algorithm} engine / its fastest kernel"
        yield _goal(what, 0.9, group.row(ENGINE), group.kernel)
    yield from _groups_of_lanes(results)


def _groups_of_lanes(results: Results) -> Iterator[Goal]:
    above, below, limit = GROUPS_FLOOR
    for group in results.groups("md5"):
        two, one = group.row(above), group.row(below)
        if group.message_len == MESSAGE_LEN and two and one:
            yield _goal(f"{above} / {below}", limit, two, one)
