"""What a call on a cluster may say: the same as without a cluster, and nothing about what was not read."""

import concurrent.futures
import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import hashlane
import pytest
from hashlane import Torrent

distributed = pytest.importorskip("distributed")
from hashlane.dask import Options, _absolute, _below, _Call, check_many, sum_many, verify_many  # noqa: E402
from hashlane.dask import __main__ as command  # noqa: E402
from hashlane.dask._manifest import Manifest, _line, parts, rows_of  # noqa: E402
from hashlane.dask._work import COLUMNS, Answer, FileSum, PieceRun, _Parsed  # noqa: E402

PIECE = 16384


@pytest.fixture(scope="module")
def client() -> Iterator["distributed.Client"]:
    """Two workers in this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
        ) as threads,
        distributed.Client(threads) as client,
    ):
        yield client


def content(folder: Path, *lengths: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, length in enumerate(lengths):
        (folder / f"file-{number}").write_bytes(os.urandom(length))
    return folder


def damage(path: Path, *offsets: int) -> None:
    data = bytearray(path.read_bytes())
    for offset in offsets:
        data[offset] ^= 1
    path.write_bytes(data)


# Only what was read counts.


def test_a_report_that_was_cut_anywhere_has_only_whole_results(client, tmp_path: Path) -> None:
    folder = content(tmp_path / "in" / "t", 9 * PIECE, 5 * PIECE + 1, 0)
    torrent = hashlane.create(folder, version="v1", piece_length=PIECE)
    damage(folder / "file-0", 2 * PIECE, 7 * PIECE)
    report = tmp_path / "report"
    options: Options = {"client": client, "manifest": report, "task_bytes": 5 * PIECE}
    whole = verify_many([torrent], folder.parent, **options)
    assert (whole.wanted, whole.proven) == (torrent.piece_count + 1, torrent.piece_count - 1)
    (part,) = parts(report)
    data = part.read_bytes()
    rows = [json.loads(line) for line in data.splitlines()]
    ends = {row["unit"]: 0 for row in rows}
    offset = 0
    for line, row in zip(data.splitlines(keepends=True), rows, strict=True):
        offset += len(line)
        ends[row["unit"]] = offset
    assert len(ends) == 3
    items = {unit: run_of(torrent, unit) for unit in ends}
    for length in range(len(data) + 1):
        part.write_bytes(data[:length])
        with Manifest(report, items, parquet=False) as manifest:
            assert set(manifest.earlier) == {unit for unit, end in ends.items() if end <= length}, length
    # A call that continues such a report reads the rest, and finds the same.
    for length in sorted({0, len(data) // 3, *(end - 1 for end in ends.values()), *ends.values()}):
        part.write_bytes(data[:length])
        again = verify_many([torrent], folder.parent, resume=True, **options)
        assert (again.counts, again.proven, again.is_ok) == (whole.counts, whole.proven, False), length
        for other in parts(report):
            if other != part:
                other.unlink()


def run_of(torrent: Torrent, unit: str) -> PieceRun:
    """Returns the item of a unit, of which the report needs the range and the files without pieces."""
    _, run, path = unit.split(" ", 2)
    first, end = map(int, run.split("-"))
    files = tuple(file.path for file in torrent.files if file.length == 0) if first == 0 else ()
    return PieceRun(unit, path, "", None, 0, torrent.info_hash, b"", first, end, files)


def test_rows_cover_an_item_only_without_gaps_and_repetitions() -> None:
    run = PieceRun("u", "p", "v", None, 0, "h", b"", 3, 8, ("a", "b"))
    pieces = [{"first_piece": 3, "end_piece": 5}, {"first_piece": 5, "end_piece": 8}]
    files = [{"first_piece": None, "file": "a"}, {"first_piece": None, "file": "b"}]
    assert run.is_covered(pieces + files)
    wrong = [
        [],
        pieces,
        files,
        pieces[:1] + files,
        pieces[1:] + files,
        [*pieces, *pieces, *files],
        [*pieces, *files[:1]],
        [*pieces, *files, files[0]],
        [pieces[0], {"first_piece": 4, "end_piece": 8}, *files],
        [pieces[0], {"first_piece": 5, "end_piece": 9}, *files],
        [{"first_piece": 3, "end_piece": 3}, *pieces, *files],
    ]
    assert not any(run.is_covered(rows) for rows in wrong)
    file = FileSum("u", "p", "v", None, 0, "sha1", None)
    assert [file.is_covered([{}] * count) for count in range(3)] == [False, True, False]


def test_a_killed_client_leaves_a_report_that_is_continued(tmp_path: Path) -> None:
    folder = content(tmp_path / "in" / "t", 2000 * PIECE)
    torrent = hashlane.create(folder, version="v1", piece_length=PIECE)
    damage(folder / "file-0", *range(40 * PIECE, 2000 * PIECE, PIECE))
    (tmp_path / "t.torrent").write_bytes(bytes(torrent))
    report = tmp_path / "report"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as workers:
        argv = [sys.executable, "-m", "hashlane.dask", "verify", "t.torrent", "--root", "in", "--resume"]
        argv += ["--scheduler", workers.scheduler_address, "--task-bytes", str(500 * PIECE)]
        for _ in range(5):
            with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                before = size_of(report)
                while process.poll() is None and size_of(report) == before:
                    time.sleep(0.001)
                process.send_signal(signal.SIGKILL)
        end = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert end.returncode == 1, end.stderr
    assert "40 of 2000 proven: 1960 bad, 40 have" in end.stdout


def size_of(report: Path) -> int:
    return sum(part.stat().st_size for part in parts(report)) if report.exists() else 0


@pytest.mark.parametrize("volume", [None, "vol:A"])
def test_a_glob_waits_for_the_first_worker(tmp_path: Path, volume: str | None) -> None:
    folder = content(tmp_path / "in", 10, 20)
    resources = {} if volume is None else {volume: 1}
    with (
        distributed.LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=50,
            resources=resources,
        ) as workers,
        distributed.Client(workers) as client,
        concurrent.futures.ThreadPoolExecutor(1) as pool,
    ):
        options: Options = {"client": client, "manifest": tmp_path / "report"}
        if volume is not None:
            options["where"] = {str(folder): volume}
        summary = pool.submit(sum_many, [str(folder / "*")], **options)
        # The call asks for the workers before there is one, or waits for it.
        time.sleep(1)
        workers.scale(1)
        assert (summary.result(60).is_ok, summary.result().wanted) == (True, 2)


# The verdict is that of one machine.


@pytest.mark.parametrize("version", ["v1", "v2", "hybrid"])
def test_files_without_pieces_have_the_verdict_of_one_machine(client, tmp_path: Path, version: str) -> None:
    folder = content(tmp_path / "t", 3 * PIECE, 0, 7, 0)
    torrent = hashlane.create(folder, version=version, piece_length=PIECE)
    options: Options = {"client": client, "manifest": tmp_path / "report", "task_bytes": PIECE, "retries": 0}

    def both() -> tuple[bool, bool]:
        summary = verify_many([torrent], tmp_path, **options)
        assert summary.wanted == torrent.piece_count + 2
        return summary.is_ok, torrent.verify(folder).is_complete

    assert both() == (True, True)
    (folder / "file-1").unlink()
    assert both() == (False, False)
    (folder / "file-1").mkdir()
    assert both() == (False, False)
    (folder / "file-1").rmdir()
    (folder / "file-1").write_bytes(b"longer than nothing")
    assert both() == (True, True)
    (folder / "file-0").write_bytes((folder / "file-0").read_bytes() + b"longer")
    assert both() == (True, True)
    (folder / "file-3").unlink()
    (folder / "file-3").symlink_to("absent")
    assert both() == (False, False)


def test_links_have_the_verdict_of_one_machine(client, tmp_path: Path) -> None:
    folder = content(tmp_path / "t", PIECE)
    info = b"d5:filesld6:lengthi16384e4:pathl6:file-0eed4:attr1:l6:lengthi0e4:pathl4:linke12:symlink pathl6:file-0eee"
    digest = hashlib.sha1((folder / "file-0").read_bytes()).digest()
    torrent = Torrent.parse(b"d4:info" + info + b"4:name1:t12:piece lengthi16384e6:pieces20:" + digest + b"ee")
    options: Options = {"client": client, "manifest": tmp_path / "report", "retries": 0}
    for target in ("file-0", "elsewhere", None):
        (folder / "link").unlink(missing_ok=True)
        if target is not None:
            (folder / "link").symlink_to(target)
        summary = verify_many([torrent], tmp_path, **options)
        assert summary.is_ok == torrent.verify(folder).is_complete == (target == "file-0")


# Nothing to do is no success, and names are names.


def test_nothing_to_do_is_no_success(client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: Options = {"client": client, "manifest": tmp_path / "report"}
    (tmp_path / "SUMS").write_text("# a comment\n\n")
    (tmp_path / "there").touch()
    for summary in (
        sum_many([], **options),
        check_many({}, tmp_path, **options),
        check_many(tmp_path / "SUMS", **options),
        verify_many([], tmp_path, **options),
    ):
        assert (summary.wanted, summary.is_ok) == (0, False)
    summary = sum_many([f"{tmp_path}/*.absent", f"{tmp_path}/there"], **options)
    assert (summary.counts, summary.is_ok) == ({"missing": 1, "read": 1}, False)
    assert [row["file"] for row in summary.faults] == [f"{tmp_path}/*.absent"]
    scheduler = client.scheduler.address
    manifest = str(tmp_path / "report")
    assert command.main(["check", str(tmp_path / "SUMS"), "--scheduler", scheduler, "--manifest", manifest]) == 1
    assert "nothing to do" in capsys.readouterr().err


def test_a_name_that_exists_is_no_pattern(client, tmp_path: Path) -> None:
    folder = tmp_path / "[1]"
    folder.mkdir()
    names = ["[Group] film.mkv", "what?", "a*b"]
    for name in names:
        (folder / name).write_bytes(name.encode())
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "aXb").touch()
    for files in (
        [f"{folder}/{name}" for name in names],
        [folder / name for name in names],
        [os.fsencode(folder / name) for name in names],
    ):
        summary = sum_many(files, client=client, manifest=tmp_path / "report")
        assert summary.is_ok
        assert summary.wanted == 3
    # A path is never a pattern, even if no file has the name.
    assert sum_many([tmp_path / "*"], client=client, manifest=tmp_path / "report").counts == {"missing": 1}


def test_local_names_follow_no_rules_of_urls(client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [b"a::b.bin", b"file:x", b"caf\xe9", b"~", b"-", b"a:", b"new\nline", b"back\\slash"]
    sums = []
    for name in [b"a", *names]:
        with open(name, "wb") as file:
            file.write(name)
        line = hashlane._hashlane.sum_line("sha256", hashlib.sha256(name).hexdigest(), name, False)
        sums.append(line)
    options: Options = {"client": client, "manifest": tmp_path / "out" / "report"}
    summary = sum_many([os.fsdecode(name) for name in names], **options)
    assert summary.is_ok
    (part,) = parts(tmp_path / "out" / "report")
    assert {row["got"] for row in rows_of(part)} == {hashlib.sha256(name).hexdigest() for name in names}
    (tmp_path / "SUMS").write_bytes(b"".join(sums))
    checked = check_many("SUMS", **options)
    assert (checked.is_ok, checked.wanted) == (True, len(names) + 1)
    damage(tmp_path / "a::b.bin", 0)
    assert [row["file"] for row in check_many("SUMS", parquet=True, **options).faults] == [str(tmp_path / "a::b.bin")]


def test_names_of_a_list_may_have_dots(client, tmp_path: Path) -> None:
    content(tmp_path / "x", 5)
    (tmp_path / "a").write_bytes(b"a")
    digest = hashlib.sha256(b"a").hexdigest()
    other = hashlib.sha256((tmp_path / "x" / "file-0").read_bytes()).hexdigest()
    (tmp_path / "SUMS").write_text(f"{digest}  ./a\n{digest}  x//../a\n{other}  ./x/./file-0\n{digest}  {tmp_path}/a\n")
    options: Options = {"client": client, "manifest": tmp_path / "report"}
    assert check_many(tmp_path / "SUMS", **options).is_ok
    (tmp_path / "SUMS").write_text(f"{digest}  a\n{other}  ./a\n")
    with pytest.raises(ValueError, match="SUMS: line 2: a: line 1 has another digest"):
        check_many(tmp_path / "SUMS", **options)
    # The same twice is no contradiction, and neither are two algorithms.
    sha1 = hashlib.sha1(b"a").hexdigest()
    (tmp_path / "SUMS").write_text(f"{digest}  a\n{digest}  a\n{sha1}  a\n")
    assert check_many(tmp_path / "SUMS", **options).counts == {"have": 2}


# Earlier results count if they are asked for and still valid.


def test_results_of_earlier_calls_count_only_if_nothing_changed(client, tmp_path: Path) -> None:
    folder = content(tmp_path / "t", 4 * PIECE, 4 * PIECE)
    torrent = hashlane.create(folder, version="v1", piece_length=PIECE)
    options: Options = {"client": client, "manifest": tmp_path / "report", "task_bytes": PIECE}

    def call(**more) -> tuple[bool, int, int]:
        summary = verify_many([torrent], tmp_path, **options, **more)
        return summary.is_ok, summary.checked, summary.skipped

    assert call() == (True, 8, 0)
    assert call() == (True, 8, 0)
    assert call(resume=True) == (True, 0, 8)
    assert call(resume=True, max_age=0) == (True, 8, 0)
    assert call(resume=True, max_age=3600) == (True, 0, 8)
    good = (folder / "file-0").read_bytes()
    damage(folder / "file-0", 0)
    assert call(resume=True) == (False, 4, 4)
    # A fault is checked again, even of the same file, and a repair is seen.
    assert call(resume=True) == (False, 1, 7)
    (folder / "file-0").write_bytes(good)
    assert call(resume=True) == (True, 4, 4)
    times = (folder / "file-0").stat()
    (folder / "file-0").rename(folder / "old")
    (folder / "file-0").write_bytes(good)
    os.utime(folder / "file-0", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert call(resume=True) == (True, 4, 4), "another inode"
    with pytest.raises(ValueError, match="max_age: only with resume"):
        verify_many([torrent], tmp_path, max_age=5, **options)


def test_sums_of_earlier_calls_count_only_if_nothing_changed(client, tmp_path: Path) -> None:
    folder = content(tmp_path / "t", 5, 6, 7)
    files = sorted(folder.iterdir())
    options: Options = {"client": client, "manifest": tmp_path / "report", "resume": True}
    assert sum_many(files, **options).checked == 3
    assert sum_many(files, **options).checked == 0
    files[1].write_bytes(b"other")
    changed = sum_many(files, **options)
    assert (changed.checked, changed.skipped, changed.is_ok) == (1, 2, True)


# Many tasks.


def test_tasks_do_not_carry_the_metainfo(client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torrent = hashlane.create(content(tmp_path / "t", 2000 * PIECE), version="v1", piece_length=PIECE)
    submit, lengths = client.submit, []

    def record(function, items, *arguments, **options):
        lengths.append(len(pickle.dumps(items)))
        return submit(function, items, *arguments, **options)

    monkeypatch.setattr(client, "submit", record)
    summary = verify_many([torrent], tmp_path, client=client, manifest=tmp_path / "report", task_bytes=100 * PIECE)
    assert summary.is_ok
    assert len(lengths) == 20
    assert max(lengths) < 2000 < len(bytes(torrent))


def test_the_work_grows_with_the_number_of_wrong_pieces(
    client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = content(tmp_path / "t", 400 * PIECE)
    torrent = hashlane.create(folder, version="v1", piece_length=PIECE)
    damage(folder / "file-0", *range(0, 400 * PIECE, PIECE))
    parts_of, visited = _Parsed.parts, []

    def count(self, first: int, end: int):
        for part in parts_of(self, first, end):
            visited.append(part)
            yield part

    monkeypatch.setattr(_Parsed, "parts", count)
    summary = verify_many([torrent], tmp_path, client=client, manifest=tmp_path / "report")
    assert summary.counts == {"bad": 400}
    assert len(visited) < 2 * 400
    for row in summary.faults:
        first = row["first_piece"]
        data = (folder / "file-0").read_bytes()[first * PIECE : (first + 1) * PIECE]
        assert row["got"] == hashlib.sha1(data).hexdigest()


def test_rows_of_small_files_are_written_together(tmp_path: Path) -> None:
    items = {str(number): FileSum(str(number), "p", "v", None, number, "sha1", None) for number in (10, 20, 1 << 20)}
    report = tmp_path / "report"
    with Manifest(report, items, parquet=False) as manifest:
        sizes = []
        for item in items.values():
            manifest.add(Answer(item, [{"verdict": "read", "got": "00"}], None, "h", "w", 1.5, 0.25))
            sizes.append(size_of(report))
        # What took long to read is written at once, with all before it.
        assert sizes[:2] == [0, 0] < sizes[2:]
    with Manifest(report, items, parquet=False) as manifest:
        assert manifest.earlier.keys() == items.keys()
        manifest.add(Answer(items["10"], [{"verdict": "read", "got": "01"}], None, "h", "w", 2.5, 0.25))
    (_, part) = parts(report)
    assert [row["unit"] for row in rows_of(part)] == ["10", "10"]


@pytest.mark.parametrize(
    "text",
    ['"', "\\", "\n\x00\x7f", "zw\N{LATIN SMALL LETTER O WITH DIAERESIS}lf", "\N{SNOWMAN}", "caf\udce9", "\u2028"],
)
def test_a_row_is_json(text: str) -> None:
    row = dict.fromkeys(COLUMNS) | {"unit": text, "first_piece": 3, "seconds": 1e-7, "checked_at": 1764518400.25}
    line = _line(row)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {name: value for name, value in row.items() if value is not None}


def test_paths_are_those_of_pathlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for letters in itertools.product("/.a\n", repeat=6):
        name = "".join(letters)
        expected = "/" + str(PurePosixPath(os.getcwd(), name)).lstrip("/")
        assert _absolute(name) == expected
        assert _below("/b/c", name) == "/" + str(PurePosixPath("/b/c", name)).lstrip("/")


# The border.


def test_wrong_arguments_are_named(client, tmp_path: Path) -> None:
    torrent = hashlane.create(content(tmp_path / "t", 5))
    options: Options = {"client": client, "manifest": tmp_path / "report"}
    with pytest.raises(TypeError, match="torrents: expected a list, found one str"):
        verify_many("a.torrent", tmp_path, **options)
    with pytest.raises(TypeError, match="torrents: expected a list, found one PosixPath"):
        verify_many(tmp_path, tmp_path, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="torrents: expected a list, found one Torrent"):
        verify_many(torrent, tmp_path, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="files: expected a list, found one bytes"):
        sum_many(b"abc", **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unknown option 'treads'"):
        verify_many([torrent], tmp_path, treads=2, **options)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="a: 'xyz.*' is not hexadecimal"):
        check_many({"a": "xyz" + "0" * 61}, tmp_path, **options)
    with pytest.raises(ValueError, match="a: a digest of sha1 has not 64 digits"):
        check_many({"a": "0" * 64}, tmp_path, "sha1", **options)
    with pytest.raises(ValueError, match="a: no algorithm has digests of 6 digits"):
        check_many({"a": "abcdef"}, tmp_path, **options)
    with pytest.raises(TypeError, match="^progress: expected a callable"):
        verify_many([torrent], tmp_path, progress=1, **options)  # type: ignore[typeddict-item]


def test_the_options_have_types() -> None:
    assert list(Options.__annotations__) == [field.name for field in dataclasses.fields(_Call)]
    assert set(COLUMNS) >= {"unit", "verdict"}


def test_a_bar_of_tqdm_shows_the_progress(client, tmp_path: Path) -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    torrent = hashlane.create(content(tmp_path / "t", 5 * PIECE), piece_length=PIECE)
    with open(os.devnull, "w") as nothing, contextlib.closing(tqdm(file=nothing)) as bar:
        verify_many([torrent], tmp_path, client=client, manifest=tmp_path / "report", task_bytes=PIECE, progress=bar)
        assert bar.n == bar.total == 5 * PIECE


def test_without_dask_the_error_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('none')")
    (tmp_path / "dask.py").write_text("raise ImportError('none')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for argv in (["-c", "import hashlane.dask"], ["-m", "hashlane.dask", "verify"]):
        run = subprocess.run([sys.executable, *argv], env=environment, capture_output=True, text=True, check=False)
        assert run.returncode != 0
        assert run.stderr.endswith("ImportError: hashlane.dask needs Dask: pip install 'hashlane[dask]'\n")


def test_ctrl_c_ends_the_command_with_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")
    argv = [sys.executable, "-m", "hashlane.dask", "sum", "never"]
    # On SIGABRT, Python prints where each thread is.
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    process = subprocess.Popen(
        argv,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
        # Shells start background jobs with SIGINT ignored, and Python raises no KeyboardInterrupt then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    # Dask warns first if another cluster has the usual port of the dashboard.
    assert any(line.startswith("dashboard") for line in process.stderr)
    while not list((tmp_path / "report").glob("part-*")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        pytest.fail(process.communicate(timeout=60)[1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert errors == "hashlane.dask: interrupted; --resume continues\n"
