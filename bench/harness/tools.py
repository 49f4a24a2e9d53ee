"""The compared programs: their paths, their command lines, and checks of their results.

The functions that make a `Contestant` know the rules of its tool, so that suites need not.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.machine import CORES, first_line
from harness.payloads import Payload, digest_of
from harness.process import FORCED_BACKEND, Command, Outcome, exit_status_complaint
from harness.samples import Sample
from harness.torrents import Version

SCRIPTS = Path(__file__).parents[1]
LIBTORRENT_SCRIPT = "libtorrent_check.py"
NOT_INSTALLED = "not installed"
BACKENDS = ("portable", "sse2", "ssse3", "avx", "avx2", "avx512vl", "avx512", "sha-ni")
Complaint = Callable[[Outcome], str | None]


@dataclass(frozen=True)
class Contestant:
    """One command in a suite; `command` is None if it cannot be run, and `absent` says why.

    `inner_sample` finds the figure that a tool measured itself, and `inner_name` describes it.
    `reads_payload` is false for a command that does not use the content. Without a payload, the
    content of the command is in the page cache already.
    """

    key: str
    label: str
    payload: Payload | None
    command: Command | None
    absent: str | None = None
    baseline: str | None = None
    inner_sample: Callable[[Outcome], Sample] | None = None
    inner_name: str = "check"
    reads_payload: bool = True


@dataclass(frozen=True)
class Threads:
    """The number of threads that hashlane uses."""

    key: str
    count: int
    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the number in words."""
        return "1 thread" if self.count == 1 else f"{self.count} threads"


ONE_THREAD = Threads("1", 1, ("--threads", "1"))
# The default.
ALL_THREADS = Threads("all", CORES, ())
BOTH = (ONE_THREAD, ALL_THREADS)


@dataclass(frozen=True)
class Hashlane:
    """A build of hashlane, and the kernels that it can run on this CPU."""

    program: Path
    available_backends: frozenset[str] = frozenset()
    kernels: tuple[str, ...] = ()

    @classmethod
    def at(cls, program: Path) -> "Hashlane":
        """Ask the build at that path for its kernels."""
        output = subprocess.run(
            [program, "kernels", "--json"], check=True, capture_output=True, text=True
        ).stdout
        lines = [json.loads(line) for line in output.splitlines()]
        backends = (line for line in lines if line["type"] == "backend")
        jobs = (line for line in lines if line["type"] == "job")
        # For each algorithm, the job with the most messages comes last, and its kernel is used.
        ordered = sorted(jobs, key=lambda job: job["messages"])
        kernels = {job["algorithm"]: job["kernel"] for job in ordered}
        return cls(
            program,
            frozenset(line["name"] for line in backends if line["available"]),
            tuple(kernels.values()),
        )

    def verify(
        self,
        payload: Payload,
        piece_length: int,
        threads: Threads,
        *,
        version: Version = Version.V1,
        only: Version | None = None,
        key: str = "hashlane",
        label: str = "hashlane",
        io: str | None = None,
        backend: str | None = None,
        baseline: str | None = None,
    ) -> Contestant:
        """Verify a torrent; exit status 0 means that every piece is right."""
        arguments = [
            *("verify", payload.torrent(piece_length, version), "-d", "."),
            *threads.options,
            *(("--only", only) if only else ()),
            *(("--io", io) if io else ()),
            "-q",
        ]
        environment = {FORCED_BACKEND: backend} if backend else {}
        missing = backend is not None and backend not in self.available_backends
        command = command_of(
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

    def start_alone(self, payload: Payload) -> Contestant:
        """Start and exit only, for comparison with the work on a payload."""
        arguments = ["--version"]
        command = command_of(self.program, "hashlane", arguments, payload, says("hashlane "))
        label = "hashlane --version (start alone)"
        return Contestant("start", label, payload, command, reads_payload=False)


@dataclass(frozen=True)
class Toolbox:
    """The other programs that are installed."""

    programs: Mapping[str, Path | None] = field(default_factory=dict)
    libtorrent: str | None = None

    @classmethod
    def of_this_machine(cls) -> "Toolbox":
        """Search the folders of package managers."""
        names = (
            *("aria2c", "dd", "imdl", "mktorrent", "openssl", "sha1sum", "sha256sum"),
            *("mkbrr", "torf", "torrentfile"),
        )
        return cls({name: _find(name) for name in names}, _libtorrent_version())

    def versions(self) -> Iterator[tuple[str, str]]:
        """Return the version of each installed program."""
        questions = {
            "openssl": ("version",),
            "sha1sum": ("--version",),
            "imdl": ("--version",),
            "torf": ("--version",),
            "torrentfile": ("-V",),
            "aria2c": ("--version",),
            "mktorrent": ("-h",),
            "mkbrr": ("version",),
        }
        yield "libtorrent", self.libtorrent or NOT_INSTALLED
        for name, question in questions.items():
            program = self.programs[name]
            yield name, first_line(program, *question) if program else NOT_INSTALLED

    def reading_alone(self, payload: Payload) -> Contestant:
        """Copy the file to /dev/null, the lower limit for programs that copy their input."""
        arguments = [f"if={payload.name}", "of=/dev/null", "bs=1M"]
        expected = f"{payload.total_bytes} bytes"
        return self.contestant("dd", "dd (reading alone)", arguments, payload, says(expected))

    def reading_mapped(self, payload: Payload) -> Contestant:
        """Read the file through maps, as hashlane does, and report the time of reading alone."""
        return script_contestant(
            script="read_mapped.py",
            arguments=[payload.name],
            payload=payload,
            complaint=says(f'"bytes": {payload.total_bytes},'),
            key="mapped",
            label="reading through maps",
            inner_name="reading",
        )

    def openssl(self, payload: Payload, algorithm: str = "sha1") -> Contestant:
        """Hash the file as one message."""
        complaint = _prints_digests(payload, algorithm)
        label = f"openssl {algorithm}"
        return self.contestant("openssl", label, [algorithm, payload.name], payload, complaint)

    def openssl_files(self, payload: Payload, algorithm: str = "sha1") -> Contestant:
        """Hash each file of a folder as one message."""
        names = [str(path.relative_to(payload.folder)) for path in payload.files]
        label = f"openssl {algorithm}"
        return self.contestant(
            "openssl",
            label,
            [algorithm, *names],
            payload,
            _prints_digests(payload, algorithm),
            shown=f"{label} {names[0]} … {names[-1]}",
        )

    def coreutils_sum(self, payload: Payload, algorithm: str = "sha1") -> Contestant:
        """Hash the file as one message with sha1sum or sha256sum."""
        complaint = _prints_digests(payload, algorithm)
        name = f"{algorithm}sum"
        return self.contestant(name, name, [payload.name], payload, complaint)

    def libtorrent_check(
        self,
        payload: Payload,
        piece_length: int,
        threads: Threads,
        version: Version = Version.V1,
    ) -> Contestant:
        """Check with libtorrent, which also reports the time of its check alone."""
        return script_contestant(
            script=LIBTORRENT_SCRIPT,
            arguments=[payload.torrent(piece_length, version), ".", str(threads.count)],
            payload=payload,
            complaint=exit_status_complaint,
            key=f"libtorrent-{threads.key}",
            label=f"libtorrent, {threads.text}",
            inner_name="check",
            absent=None if self.libtorrent else NOT_INSTALLED,
        )

    def imdl(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with intermodal."""
        torrent = payload.torrent(piece_length)
        arguments = ["torrent", "verify", "-i", torrent, "-c", payload.name]
        return self.contestant("imdl", "imdl", arguments, payload, exit_status_complaint)

    def mkbrr(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with mkbrr, which hashes on all cores."""
        torrent = payload.torrent(piece_length)
        arguments = ["check", torrent, payload.name, "--workers", str(ALL_THREADS.count), "-q"]
        complaint = says("100.00%")
        label = f"mkbrr, {ALL_THREADS.text}"
        return self.contestant("mkbrr", label, arguments, payload, complaint)

    def torf(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with torf-cli."""
        arguments = ["--noconfig", "-i", payload.torrent(piece_length), payload.name]
        return self.contestant("torf", "torf", arguments, payload, exit_status_complaint)

    def torrentfile(
        self, payload: Payload, piece_length: int, version: Version = Version.V1
    ) -> Contestant:
        """Verify with torrentfile, whose exit status is always 0."""
        torrent = payload.torrent(piece_length, version)
        if version is Version.V2 and not payload.parts:
            torrent = payload.torrent_with_length(piece_length)
        # If the versions of a hybrid describe different content, torrentfile checks only version 2.
        label = "torrentfile, version 2 only" if version is Version.HYBRID else "torrentfile"
        arguments = ["recheck", torrent, payload.name]
        complaint = says(" <- 100.0% -> ")
        return self.contestant("torrentfile", label, arguments, payload, complaint)

    def aria2c(self, payload: Payload, piece_length: int) -> Contestant:
        """Verify with aria2, without network connections."""
        arguments = [
            *("--no-conf", "--dir=.", "-V", "--hash-check-only=true", "--seed-time=0"),
            *("--file-allocation=none", "--enable-dht=false", "--bt-enable-lpd=false"),
            payload.torrent(piece_length),
        ]
        return self.contestant("aria2c", "aria2c", arguments, payload, exit_status_complaint)

    def verifiers(
        self, payload: Payload, piece_length: int, version: Version = Version.V1
    ) -> list[Contestant]:
        """List all other tools that compare the content with a .torrent of that version."""
        only_version_1 = (self.imdl, self.mkbrr, self.torf, self.aria2c)
        if version is not Version.V1:
            only_version_1 = ()
        return [
            *(self.libtorrent_check(payload, piece_length, threads, version) for threads in BOTH),
            *(make(payload, piece_length) for make in only_version_1),
            self.torrentfile(payload, piece_length, version),
        ]

    def contestant(
        self,
        name: str,
        label: str,
        arguments: Sequence[str],
        payload: Payload,
        complaint: Complaint,
        *,
        shown: str | None = None,
        output: Path | None = None,
    ) -> Contestant:
        """Run one of the programs, if it is installed."""
        program = self.programs[name]
        command = program and command_of(
            program, name, arguments, payload, complaint, shown=shown, output=output
        )
        return Contestant(
            key=name,
            label=label,
            payload=payload,
            command=command,
            absent=None if program else NOT_INSTALLED,
        )


def script_contestant(
    *,
    script: str,
    arguments: Sequence[str],
    payload: Payload,
    complaint: Complaint,
    key: str,
    label: str,
    inner_name: str,
    absent: str | None = None,
    output: Path | None = None,
) -> Contestant:
    """Run a script of this folder, which prints its own measurement."""
    command = Command(
        argv=[sys.executable, str(SCRIPTS / script), *arguments],
        folder=payload.folder,
        complaint=complaint,
        environment={},
        shown=f"python3 {script} {' '.join(arguments)}",
        output=output,
    )
    return Contestant(
        key=key,
        label=label,
        payload=payload,
        command=None if absent else command,
        absent=absent,
        inner_sample=_printed_sample,
        inner_name=inner_name,
    )


def command_of(
    program: Path,
    name: str,
    arguments: Sequence[str],
    payload: Payload,
    complaint: Complaint,
    environment: Mapping[str, str] | None = None,
    shown: str | None = None,
    output: Path | None = None,
) -> Command:
    """Call a program in the folder of a payload."""
    settings = [f"{variable}={value}" for variable, value in (environment or {}).items()]
    return Command(
        argv=[str(program), *arguments],
        folder=payload.folder,
        complaint=complaint,
        environment=environment or {},
        shown=shown or " ".join([*settings, name, *arguments]),
        output=output,
    )


def _find(name: str) -> Path | None:
    """Find a program.

    Programs that pip installs are beside the interpreter, where they start without a version
    manager such as pyenv.
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
        [sys.executable, str(SCRIPTS / LIBTORRENT_SCRIPT), "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.strip() if result.returncode == 0 else None


def _printed_sample(outcome: Outcome) -> Sample:
    result = json.loads(outcome.stdout)
    return Sample(wall=result["wall"], user=result["user"], system=result["system"])


def says(text: str) -> Complaint:
    """Check that a tool prints that text, and that its exit status is 0."""

    def complaint(outcome: Outcome) -> str | None:
        if text in outcome.stdout or text in outcome.stderr:
            return exit_status_complaint(outcome)
        return f"did not say {text!r}"

    return complaint


def _prints_digests(payload: Payload, algorithm: str) -> Complaint:
    """Check that a tool prints the digest of every file, in order."""
    expected = [digest_of(path, algorithm) for path in payload.files]
    pattern = rf"\b[0-9a-f]{{{len(expected[0])}}}\b"

    def complaint(outcome: Outcome) -> str | None:
        if re.findall(pattern, outcome.stdout) == expected:
            return exit_status_complaint(outcome)
        return "printed other digests than those of the content"

    return complaint
