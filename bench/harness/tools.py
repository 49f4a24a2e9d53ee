"""The programs that are compared: where they are, how they are called, how one knows they worked.

Every function that makes a `Contestant` has its tool's own rules in it, so that suites need none.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.payloads import Payload, sha1_of
from harness.process import FORCED_BACKEND, Command, Outcome, exit_status_complaint
from harness.samples import Sample

LIBTORRENT_SCRIPT = Path(__file__).parent.with_name("libtorrent_check.py")
NOT_INSTALLED = "not installed"
BACKENDS = ("portable", "sse2", "ssse3", "avx", "avx2", "avx512vl", "avx512", "sha-ni")
Complaint = Callable[[Outcome], str | None]


@dataclass(frozen=True)
class Contestant:
    """One command in a suite; `command` is None where it cannot be run, and `absent` says why.

    `inner_sample` finds what a tool measured of itself, where that is told as well.
    """

    key: str
    label: str
    payload: Payload
    command: Command | None
    absent: str | None = None
    baseline: str | None = None
    inner_sample: Callable[[Outcome], Sample] | None = None


@dataclass(frozen=True)
class Threads:
    """How many threads hashlane is told to use."""

    key: str
    count: int
    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the number in words."""
        return "1 thread" if self.count == 1 else f"{self.count} threads"


CORES = len(os.sched_getaffinity(0))
ONE_THREAD = Threads("1", 1, ("--threads", "1"))
# What a user gets who says nothing.
ALL_THREADS = Threads("all", CORES, ())
BOTH = (ONE_THREAD, ALL_THREADS)


@dataclass(frozen=True)
class Hashlane:
    """A build of hashlane, and what the CPU lets it do."""

    program: Path
    available_backends: frozenset[str] = frozenset()
    kernel: str = "unknown"

    @classmethod
    def at(cls, program: Path) -> "Hashlane":
        """Ask the build at that path what it can do."""
        output = subprocess.run(
            [program, "kernels", "--json"], check=True, capture_output=True, text=True
        ).stdout
        lines = [json.loads(line) for line in output.splitlines()]
        backends = (line for line in lines if line["type"] == "backend")
        jobs = (line for line in lines if line["type"] == "job" and line["algorithm"] == "sha1")
        return cls(
            program,
            frozenset(line["name"] for line in backends if line["available"]),
            max(jobs, key=lambda job: job["messages"])["kernel"],
        )

    def verify(
        self,
        payload: Payload,
        piece_length: int,
        threads: Threads,
        *,
        key: str = "hashlane",
        label: str = "hashlane",
        io: str | None = None,
        backend: str | None = None,
        baseline: str | None = None,
    ) -> Contestant:
        """Verify a torrent; exit status 0 means that every piece is right."""
        arguments = [
            *("verify", payload.torrent(piece_length), "-d", "."),
            *threads.options,
            *(("--io", io) if io else ()),
            "-q",
        ]
        environment = {FORCED_BACKEND: backend} if backend else {}
        missing = backend is not None and backend not in self.available_backends
        command = _command(
            self.program, "hashlane", arguments, payload, exit_status_complaint, environment
        )
        return Contestant(
            key=f"{key}-{threads.key}",
            label=f"{label}, {threads.text}",
            payload=payload,
            command=None if missing else command,
            absent="this CPU lacks it" if missing else None,
            baseline=f"{baseline}-{threads.key}" if baseline else None,
        )


@dataclass(frozen=True)
class Toolbox:
    """Other people's programs, as far as they are installed."""

    programs: Mapping[str, Path | None] = field(default_factory=dict)
    libtorrent: str | None = None

    @classmethod
    def of_this_machine(cls) -> "Toolbox":
        """Look where package managers put them."""
        names = ("aria2c", "dd", "imdl", "openssl", "sha1sum", "torf", "torrentfile")
        return cls({name: _find(name) for name in names}, _libtorrent_version())

    def versions(self) -> Iterator[tuple[str, str]]:
        """Tell which version of each is installed."""
        questions = {
            "openssl": ("version",),
            "sha1sum": ("--version",),
            "imdl": ("--version",),
            "torf": ("--version",),
            "torrentfile": ("-V",),
            "aria2c": ("--version",),
        }
        yield "libtorrent", self.libtorrent or NOT_INSTALLED
        for name, question in questions.items():
            program = self.programs[name]
            yield name, first_line(program, *question) if program else NOT_INSTALLED

    def reading_alone(self, payload: Payload) -> Contestant:
        """Copy the file to nowhere: nobody who reads can be faster."""
        arguments = [f"if={payload.name}", "of=/dev/null", "bs=1M"]
        expected = f"{payload.total_bytes} bytes"
        return self._contestant("dd", "dd (reading alone)", arguments, payload, _says(expected))

    def openssl(self, payload: Payload) -> Contestant:
        """Hash the file as one message."""
        arguments = ["sha1", payload.name]
        return self._contestant(
            "openssl", "openssl sha1", arguments, payload, _prints_digests(payload)
        )

    def openssl_files(self, payload: Payload) -> Contestant:
        """Hash each file of a folder as one message."""
        names = [str(path.relative_to(payload.folder)) for path in payload.files]
        complaint = _prints_digests(payload)
        shown = f"openssl sha1 {names[0]} … {names[-1]}"
        return self._contestant(
            "openssl", "openssl sha1", ["sha1", *names], payload, complaint, shown
        )

    def sha1sum(self, payload: Payload) -> Contestant:
        """Hash the file as one message."""
        complaint = _prints_digests(payload)
        return self._contestant("sha1sum", "sha1sum", [payload.name], payload, complaint)

    def libtorrent_check(self, payload: Payload, piece_length: int, threads: Threads) -> Contestant:
        """Check with libtorrent, which tells what its check alone took."""
        arguments = [payload.torrent(piece_length), ".", str(threads.count)]
        script = [str(LIBTORRENT_SCRIPT), *arguments]
        command = Command(
            argv=[sys.executable, *script],
            folder=payload.folder,
            complaint=exit_status_complaint,
            environment={},
            shown=f"python3 libtorrent_check.py {' '.join(arguments)}",
        )
        return Contestant(
            key=f"libtorrent-{threads.key}",
            label=f"libtorrent, {threads.text}",
            payload=payload,
            command=command if self.libtorrent else None,
            absent=None if self.libtorrent else NOT_INSTALLED,
            inner_sample=_libtorrent_sample,
        )

    def imdl(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with intermodal."""
        torrent = payload.torrent(piece_length)
        arguments = ["torrent", "verify", "-i", torrent, "-c", payload.name]
        return self._contestant("imdl", "imdl", arguments, payload, exit_status_complaint)

    def torf(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with torf-cli."""
        arguments = ["--noconfig", "-i", payload.torrent(piece_length), payload.name]
        return self._contestant("torf", "torf", arguments, payload, exit_status_complaint)

    def torrentfile(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with torrentfile, whose exit status is always 0."""
        arguments = ["recheck", payload.torrent(piece_length), payload.name]
        complaint = _says(" <- 100.0% -> ")
        return self._contestant("torrentfile", "torrentfile", arguments, payload, complaint)

    def aria2c(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with aria2, and keep it from talking to anybody."""
        arguments = [
            *("--no-conf", "--dir=.", "-V", "--hash-check-only=true", "--seed-time=0"),
            *("--file-allocation=none", "--enable-dht=false", "--bt-enable-lpd=false"),
            payload.torrent(piece_length),
        ]
        return self._contestant("aria2c", "aria2c", arguments, payload, exit_status_complaint)

    def verifiers(self, payload: Payload, piece_length: int) -> list[Contestant]:
        """Everybody else who compares pieces with a .torrent."""
        makers = (self.imdl, self.torf, self.torrentfile, self.aria2c)
        return [
            *(self.libtorrent_check(payload, piece_length, threads) for threads in BOTH),
            *(make(payload, piece_length) for make in makers),
        ]

    def _contestant(
        self,
        name: str,
        label: str,
        arguments: Sequence[str],
        payload: Payload,
        complaint: Complaint,
        shown: str | None = None,
    ) -> Contestant:
        program = self.programs[name]
        command = program and _command(program, name, arguments, payload, complaint, {}, shown)
        return Contestant(
            key=name,
            label=label,
            payload=payload,
            command=command,
            absent=None if program else NOT_INSTALLED,
        )


def first_line(program: Path, *arguments: str) -> str:
    """Return the first line that a program prints, without addresses of web sites."""
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    lines = (result.stdout or result.stderr).splitlines()
    return re.sub(r"\s*<http[^>]*>", "", lines[0]).strip() if lines else "unknown"


def _command(
    program: Path,
    name: str,
    arguments: Sequence[str],
    payload: Payload,
    complaint: Complaint,
    environment: Mapping[str, str],
    shown: str | None = None,
) -> Command:
    settings = [f"{variable}={value}" for variable, value in environment.items()]
    return Command(
        argv=[str(program), *arguments],
        folder=payload.folder,
        complaint=complaint,
        environment=environment,
        shown=shown or " ".join([*settings, name, *arguments]),
    )


def _find(name: str) -> Path | None:
    """Find a program.

    Those that pip installs lie beside the interpreter, where they start without the detour of a
    version manager such as pyenv.
    """
    home = Path.home()
    beside_python = Path(sys.executable).parent
    found = None
    if name in ("torf", "torrentfile"):
        found = shutil.which(name, path=beside_python)
    found = found or shutil.which(name) or shutil.which(name, path=home / ".cargo/bin")
    return Path(found) if found else None


def _libtorrent_version() -> str | None:
    result = subprocess.run(
        [sys.executable, str(LIBTORRENT_SCRIPT), "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.strip() if result.returncode == 0 else None


def _libtorrent_sample(outcome: Outcome) -> Sample:
    result = json.loads(outcome.stdout)
    return Sample(wall=result["wall"], user=result["user"], system=result["system"])


def _says(text: str) -> Complaint:
    def complaint(outcome: Outcome) -> str | None:
        if text in outcome.stdout or text in outcome.stderr:
            return exit_status_complaint(outcome)
        return f"did not say {text!r}"

    return complaint


def _prints_digests(payload: Payload) -> Complaint:
    """Make sure that a tool prints the SHA-1 of every file, in order."""
    expected = [sha1_of(path) for path in payload.files]

    def complaint(outcome: Outcome) -> str | None:
        if re.findall(r"\b[0-9a-f]{40}\b", outcome.stdout) == expected:
            return exit_status_complaint(outcome)
        return "printed other digests than those of the content"

    return complaint
