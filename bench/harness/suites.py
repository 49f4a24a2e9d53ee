"""What is compared with what, and the rounds in which it is done."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import payloads
from harness.bystanders import Bystanders
from harness.payloads import KIB, MIB, Payload, Scale, cool, read_through, size_text, warm
from harness.process import (
    BenchmarkError,
    Command,
    Outcome,
    exit_status_complaint,
    peak_memory,
    run,
    run_checked,
)
from harness.samples import Memory, Series, Suite
from harness.tools import BACKENDS, BOTH, Contestant, Hashlane, Toolbox

CLASSIC_PIECE = 256 * KIB
OTHER_PIECES = (16 * KIB, 1 * MIB, 16 * MIB)
IO_WAYS = ("mmap", "pread")
DEBUG_ROUNDS = 3
MEMORY_RUNS = 3
MEMORY_BASE = 64 * MIB
MEMORY_PER_THREAD = 4 * MIB
CHECK_SUFFIX = "-check"


@dataclass(frozen=True)
class Bench:
    """Everything that the suites need."""

    hashlane: Hashlane
    debug_build: Hashlane | None
    toolbox: Toolbox
    work: Path
    scale: Scale
    rounds: int


def all_suites(bench: Bench) -> list[Suite]:
    """Run every suite that measures time, one after the other."""
    refuse_wrong_data(bench)
    suites = [
        classic_suite(bench),
        pieces_suite(bench),
        files_suite(bench),
        sparse_suite(bench),
        backends_suite(bench),
        io_suite(bench),
    ]
    if bench.debug_build is not None:
        suites.append(debug_suite(bench, bench.debug_build))
    return suites


def refuse_wrong_data(bench: Bench) -> None:
    """See that every verifier notices one flipped bit; who does not would be measured asleep."""
    payload = payloads.flipped(bench.work, CLASSIC_PIECE)
    contestants = [
        *(bench.hashlane.verify(payload, CLASSIC_PIECE, threads) for threads in BOTH),
        *bench.toolbox.verifiers(payload, CLASSIC_PIECE),
    ]
    for contestant in contestants:
        command = contestant.command
        if command is not None and command.complaint(run(command)) is None:
            raise BenchmarkError(f"{command.shown}: did not notice a flipped bit")


def classic_suite(bench: Bench) -> Suite:
    """One large file, and everybody."""
    payload = payloads.classic(bench.work, bench.scale)
    toolbox = bench.toolbox
    contestants = [
        toolbox.reading_alone(payload),
        toolbox.openssl(payload),
        toolbox.sha1sum(payload),
        *toolbox.verifiers(payload, CLASSIC_PIECE),
        *(bench.hashlane.verify(payload, CLASSIC_PIECE, threads) for threads in BOTH),
    ]
    return _run_rounds("classic", contestants, bench.rounds)


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
    return _run_rounds("pieces", contestants, bench.rounds)


def files_suite(bench: Bench) -> Suite:
    """Many small files beside the one large one."""
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
    return _run_rounds("files", contestants, bench.rounds)


def sparse_suite(bench: Bench) -> Suite:
    """One very large hole."""
    payload = payloads.sparse(bench.work, bench.scale)
    contestants = [bench.hashlane.verify(payload, CLASSIC_PIECE, threads) for threads in BOTH]
    return _run_rounds("sparse", contestants, bench.rounds)


def backends_suite(bench: Bench) -> Suite:
    """The classic case as lesser CPUs would do it."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for backend in BACKENDS:
        contestants += (
            bench.hashlane.verify(
                payload, CLASSIC_PIECE, threads, key=backend, label=backend, backend=backend
            )
            for threads in BOTH
        )
    return _run_rounds("backends", contestants, bench.rounds)


def io_suite(bench: Bench) -> Suite:
    """The ways in which bytes come to memory."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for way in ("auto", *IO_WAYS):
        contestants += (
            bench.hashlane.verify(
                payload, CLASSIC_PIECE, threads, key=way, label=f"hashlane --io {way}", io=way
            )
            for threads in BOTH
        )
    return _run_rounds("io", contestants, bench.rounds)


def debug_suite(bench: Bench, debug_build: Hashlane) -> Suite:
    """A build for debugging beside the release build."""
    payload = payloads.classic(bench.work, bench.scale)
    contestants = [bench.toolbox.openssl(payload)]
    for key, build in (("release", bench.hashlane), ("debug", debug_build)):
        contestants += (
            build.verify(
                payload, CLASSIC_PIECE, threads, key=key, label=f"{key} build", baseline="release"
            )
            for threads in BOTH
        )
    return _run_rounds("debug", contestants, min(bench.rounds, DEBUG_ROUNDS))


def memory_bound(threads: int) -> int:
    """Return the bytes of resident memory that hashlane promises not to exceed."""
    return MEMORY_BASE + MEMORY_PER_THREAD * threads


def memory_rows(bench: Bench) -> list[Memory]:
    """Peak resident set of every case, and of each way to read."""
    _say("memory")
    rows = []
    for case, payload, piece_length in _memory_cases(bench):
        warm(payload)
        for threads in BOTH:
            for way in IO_WAYS:
                contestant = bench.hashlane.verify(payload, piece_length, threads, io=way)
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


def _memory_cases(bench: Bench) -> list[tuple[str, Payload, int]]:
    scale = bench.scale
    classic = payloads.classic(bench.work, scale)
    many = payloads.many_files(bench.work, scale)
    hole = payloads.sparse(bench.work, scale)
    large = payloads.large_pieces(bench.work, scale)
    return [
        *(
            (f"one file, pieces of {size_text(length)}", classic, length)
            for length in sorted((CLASSIC_PIECE, *OTHER_PIECES))
        ),
        (f"{len(many.files):,} files, pieces of {size_text(CLASSIC_PIECE)}", many, CLASSIC_PIECE),
        (f"hole of {size_text(scale.sparse_bytes)}", hole, CLASSIC_PIECE),
        (
            f"{size_text(large.total_bytes)}, pieces of {size_text(scale.large_piece_length)}",
            large,
            scale.large_piece_length,
        ),
    ]


def _run_rounds(key: str, contestants: Sequence[Contestant], rounds: int) -> Suite:
    """Let all take turns, so that what disturbs the machine disturbs all of them.

    A first round, which loads the programs themselves into memory, is not counted. Before each run
    its data is read once more: libtorrent, for one, drops small files from the page cache when it
    has checked them, and whoever comes next would wait for the disk.
    """
    _say(f"{key}: {rounds} rounds of {len(contestants)} commands")
    for payload in dict.fromkeys(contestant.payload for contestant in contestants):
        warm(payload)
    turns = [(contestant, _series_of(contestant)) for contestant in contestants]
    bystanders = Bystanders()
    for counted in [False] + [True] * rounds:
        for contestant, series in turns:
            if contestant.command is None:
                continue
            read_through(contestant.payload)
            outcome = run_checked(contestant.command)
            if counted:
                _record(contestant, series, outcome)
    measured = [one for _, series in turns for one in series]
    return Suite(key, rounds, measured, bystanders.cores())


def _series_of(contestant: Contestant) -> list[Series]:
    """Return a series for the process, before it one for what it measured of itself, if it does."""
    whole = Series(
        key=contestant.key,
        label=contestant.label,
        shown=contestant.command.shown if contestant.command else "",
        payload_bytes=contestant.payload.total_bytes,
        baseline=contestant.baseline,
        absent=contestant.absent,
    )
    if contestant.inner_sample is None or contestant.absent:
        return [whole]
    inner = Series(
        key=f"{whole.key}{CHECK_SUFFIX}",
        label=f"{whole.label}, check alone",
        shown=whole.shown,
        payload_bytes=whole.payload_bytes,
    )
    whole.label = f"{whole.label}, whole process"
    return [inner, whole]


def _record(contestant: Contestant, series: list[Series], outcome: Outcome) -> None:
    series[-1].samples.append(outcome.sample)
    if contestant.inner_sample is not None:
        series[0].samples.append(contestant.inner_sample(outcome))


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)
