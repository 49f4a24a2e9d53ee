"""The comparisons of version 2, hybrids and creation."""

from harness.bench import CLASSIC_PIECE, SMALL_PIECE, Bench
from harness.creators import creators
from harness.rounds import run_rounds
from harness.samples import Suite
from harness.tools import BOTH, Contestant
from harness.torrents import Version

# Hashlane's ways to verify a hybrid: both versions in one pass, and each version alone.
BOTH_VERSIONS = "both"
WAYS = {BOTH_VERSIONS: None, "only-v1": Version.V1, "only-v2": Version.V2}


def v2_suites(bench: Bench) -> list[Suite]:
    """Run every suite of this file."""
    return [
        v2_suite(bench),
        hybrid_suite(bench),
        *(files_suite(bench, version) for version in (Version.V2, Version.HYBRID)),
        *(creation_suite(bench, version) for version in Version),
    ]


def v2_suite(bench: Bench) -> Suite:
    """The classic case, as version 2."""
    payload, toolbox = bench.classic(), bench.toolbox
    contestants = [
        toolbox.reading_alone(payload),
        toolbox.openssl(payload, "sha256"),
        toolbox.coreutils_sum(payload, "sha256"),
        *toolbox.verifiers(payload, CLASSIC_PIECE, Version.V2),
        *(
            bench.hashlane.verify(payload, CLASSIC_PIECE, threads, version=Version.V2)
            for threads in BOTH
        ),
    ]
    return run_rounds("v2", contestants, bench.rounds)


def hybrid_suite(bench: Bench) -> Suite:
    """Both versions of a hybrid in one pass, each version alone, and the time of reading."""
    payload, toolbox = bench.classic(), bench.toolbox
    contestants = [
        bench.hashlane.start_alone(payload),
        toolbox.reading_alone(payload),
        toolbox.reading_mapped(payload),
        *toolbox.verifiers(payload, CLASSIC_PIECE, Version.HYBRID),
    ]
    for key, only in WAYS.items():
        contestants += (
            bench.hashlane.verify(
                payload,
                CLASSIC_PIECE,
                threads,
                version=Version.HYBRID,
                only=only,
                key=key,
                label=f"hashlane --only {only}" if only else "hashlane, both versions",
                baseline=BOTH_VERSIONS,
            )
            for threads in BOTH
        )
    return run_rounds("hybrid", contestants, bench.rounds)


def files_suite(bench: Bench, version: Version) -> Suite:
    """Many small files, each with its own hash in version 2."""
    payload, toolbox = bench.many_files(), bench.toolbox
    contestants = [
        toolbox.openssl_files(payload, "sha256"),
        *(toolbox.libtorrent_check(payload, SMALL_PIECE, threads, version) for threads in BOTH),
        *(
            bench.hashlane.verify(payload, SMALL_PIECE, threads, version=version)
            for threads in BOTH
        ),
    ]
    return run_rounds(f"files-{version}", contestants, bench.rounds)


def creation_suite(bench: Bench, version: Version) -> Suite:
    """All tools that create a .torrent of the classic case, and hashlane's check of the content."""
    payload = bench.classic()
    contestants: list[Contestant] = [
        *creators(bench.hashlane, bench.toolbox, payload, CLASSIC_PIECE, version),
        *(
            bench.hashlane.verify(
                payload,
                CLASSIC_PIECE,
                threads,
                version=version,
                key="verify",
                label="hashlane verify",
            )
            for threads in BOTH
        ),
    ]
    return run_rounds(f"create-{version}", contestants, bench.rounds)
