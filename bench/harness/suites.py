"""The comparisons of version 1, of memory, and all others without version 2."""

from harness import payloads
from harness.bench import CLASSIC_PIECE, SMALL_PIECE, Bench
from harness.checks import refuse_wrong_data
from harness.payloads import KIB, MIB, Payload, cool, size_text, warm
from harness.process import Command, exit_status_complaint, peak_memory
from harness.rounds import run_rounds, say
from harness.samples import Memory, Suite
from harness.suites_v2 import v2_suites
from harness.tools import BACKENDS, BOTH, Hashlane
from harness.torrents import Version

OTHER_PIECES = (16 * KIB, 1 * MIB, 16 * MIB)
IO_WAYS = ("mmap", "pread")
DEBUG_ROUNDS = 3
MEMORY_RUNS = 3
MEMORY_BASE = 64 * MIB
MEMORY_PER_THREAD = 4 * MIB


def all_suites(bench: Bench) -> list[Suite]:
    """Run every suite that measures time, one after the other."""
    refuse_wrong_data(bench)
    suites = [
        classic_suite(bench),
        pieces_suite(bench),
        files_suite(bench),
        sparse_suite(bench),
        *v2_suites(bench),
        backends_suite(bench),
        io_suite(bench),
    ]
    if bench.debug_build is not None:
        suites.append(debug_suite(bench, bench.debug_build))
    return suites


def classic_suite(bench: Bench) -> Suite:
    """One large file, with all tools."""
    payload = payloads.classic(bench.work, bench.scale)
    toolbox = bench.toolbox
    contestants = [
        toolbox.reading_alone(payload),
        toolbox.openssl(payload),
        toolbox.coreutils_sum(payload),
        *toolbox.verifiers(payload, CLASSIC_PIECE),
        *(bench.hashlane.verify(payload, CLASSIC_PIECE, threads) for threads in BOTH),
    ]
    return run_rounds("classic", contestants, bench.rounds)


def pieces_suite(bench: Bench) -> Suite:
    """The same file in smaller and larger pieces."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for length in sorted((CLASSIC_PIECE, *OTHER_PIECES)):
        contestants += (
            bench.hashlane.verify(
                payload,
                length,
                threads,
                key=f"pieces-{length}",
                label=f"hashlane, pieces of {size_text(length)}",
                baseline=f"pieces-{CLASSIC_PIECE}",
            )
            for threads in BOTH
        )
    return run_rounds("pieces", contestants, bench.rounds)


def files_suite(bench: Bench) -> Suite:
    """Many small files, compared with the one large file."""
    one = payloads.classic(bench.work, bench.scale)
    many = payloads.many_files(bench.work, bench.scale)
    labels = {"one": "hashlane, one file", "many": "hashlane, many files"}
    contestants = [
        bench.toolbox.openssl_files(many),
        *(bench.toolbox.libtorrent_check(many, CLASSIC_PIECE, threads) for threads in BOTH),
    ]
    for key, payload in (("one", one), ("many", many)):
        contestants += (
            bench.hashlane.verify(
                payload, CLASSIC_PIECE, threads, key=key, label=labels[key], baseline="one"
            )
            for threads in BOTH
        )
    return run_rounds("files", contestants, bench.rounds)


def sparse_suite(bench: Bench) -> Suite:
    """One very large hole."""
    payload = payloads.sparse(bench.work, bench.scale)
    contestants = [bench.hashlane.verify(payload, CLASSIC_PIECE, threads) for threads in BOTH]
    return run_rounds("sparse", contestants, bench.rounds)


def backends_suite(bench: Bench) -> Suite:
    """The classic case with the backends of older CPUs."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for backend in BACKENDS:
        contestants += (
            bench.hashlane.verify(
                payload, CLASSIC_PIECE, threads, key=backend, label=backend, backend=backend
            )
            for threads in BOTH
        )
    return run_rounds("backends", contestants, bench.rounds)


def io_suite(bench: Bench) -> Suite:
    """The ways of reading files."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for way in ("auto", *IO_WAYS):
        contestants += (
            bench.hashlane.verify(
                payload, CLASSIC_PIECE, threads, key=way, label=f"hashlane --io {way}", io=way
            )
            for threads in BOTH
        )
    return run_rounds("io", contestants, bench.rounds)


def debug_suite(bench: Bench, debug_build: Hashlane) -> Suite:
    """A debug build, compared with the release build."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for key, build in (("release", bench.hashlane), ("debug", debug_build)):
        contestants += (
            build.verify(
                payload, CLASSIC_PIECE, threads, key=key, label=f"{key} build", baseline="release"
            )
            for threads in BOTH
        )
    return run_rounds("debug", contestants, min(bench.rounds, DEBUG_ROUNDS))


def memory_bound(threads: int) -> int:
    """Return the documented limit of resident memory, in bytes."""
    return MEMORY_BASE + MEMORY_PER_THREAD * threads


def memory_rows(bench: Bench) -> list[Memory]:
    """Measure the peak resident set of every case, and of each way of reading."""
    say("memory")
    rows = []
    for case, payload, piece_length, version in _memory_cases(bench):
        warm(payload)
        for threads in BOTH:
            for way in IO_WAYS:
                contestant = bench.hashlane.verify(
                    payload, piece_length, threads, version=version, io=way
                )
                peak = max(peak_memory(contestant.command) for _ in range(MEMORY_RUNS))
                rows.append(Memory(case, threads.count, way, peak, memory_bound(threads.count)))
    cool(payloads.large_pieces(bench.work, bench.scale))
    return rows


def memory_floor(bench: Bench) -> int:
    """Return the peak resident set of a process that does nothing, measured in the same way."""
    idle = Command(
        argv=["/bin/true"],
        folder=bench.work,
        complaint=exit_status_complaint,
        environment={},
        shown="true",
    )
    return peak_memory(idle)


def _memory_cases(bench: Bench) -> list[tuple[str, Payload, int, Version]]:
    scale = bench.scale
    classic, many = bench.classic(), bench.many_files()
    hole = payloads.sparse(bench.work, scale)
    large = payloads.large_pieces(bench.work, scale)
    files = f"{len(many.files):,} files, pieces of"
    large_pieces = f"{size_text(large.total_bytes)}, pieces of"
    version_1 = [
        *(
            (f"one file, pieces of {size_text(length)}", classic, length)
            for length in sorted((CLASSIC_PIECE, *OTHER_PIECES))
        ),
        (f"{files} {size_text(CLASSIC_PIECE)}", many, CLASSIC_PIECE),
        (f"hole of {size_text(scale.sparse_bytes)}", hole, CLASSIC_PIECE),
        (
            f"{large_pieces} {size_text(scale.large_piece_length)}",
            large,
            scale.large_piece_length,
        ),
    ]
    others = [
        case
        for version in (Version.V2, Version.HYBRID)
        for case in (
            (
                f"one file, pieces of {size_text(CLASSIC_PIECE)}, {version}",
                classic,
                CLASSIC_PIECE,
                version,
            ),
            (f"{files} {size_text(SMALL_PIECE)}, {version}", many, SMALL_PIECE, version),
        )
    ]
    return [*((*case, Version.V1) for case in version_1), *others]
