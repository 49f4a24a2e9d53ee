"""Verification on a cluster: verdicts, reports, and faults of workers, hosts, disks and reads."""

import asyncio
import concurrent.futures
import contextlib
import ctypes
import errno
import hashlib
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import hashlane
import pytest
from hashlane import PieceState, Torrent

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
from hashlane.dask import __main__ as command  # noqa: E402
from hashlane.dask import check_many, read_manifest, sum_many, verify_many  # noqa: E402
from hashlane.dask._manifest import parts, rows_of  # noqa: E402
from hashlane.dask._window import slots_of  # noqa: E402

PIECE = 16384


@contextlib.contextmanager
def cluster() -> Iterator["distributed.Client"]:
    """Four processes with one thread each, and a volume."""
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, resources={"vol:A": 1}, dashboard_address=None, silence_logs=50
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator["distributed.Client"]:
    with cluster() as client:
        yield client


@pytest.fixture
def archive(tmp_path: Path) -> tuple[list[Torrent], Path]:
    """Three torrents, one of them damaged, one with a missing file."""
    root = tmp_path / "archive"
    torrents = []
    for number, version in enumerate(("v1", "v2", "hybrid")):
        folder = root / f"torrent-{number}"
        folder.mkdir(parents=True)
        for name, length in (("a", 40 * PIECE + 5), ("b", 9 * PIECE), ("c", 3)):
            (folder / name).write_bytes(os.urandom(length))
        torrents.append(hashlane.create(folder, version=version, piece_length=PIECE))
    flip(root / "torrent-0" / "a", 5 * PIECE + 7)
    flip(root / "torrent-1" / "a", 30 * PIECE)
    (root / "torrent-2" / "b").unlink()
    return torrents, root


def flip(path: Path, offset: int) -> None:
    """Changes one byte."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)


def states(manifest: Path) -> dict[str, bytes]:
    """Returns the states of the pieces of each torrent, from the rows of a report."""
    found: dict[str, dict[int, int]] = {}
    for part in parts(manifest):
        for row in rows_of(part):
            if row["verdict"] != "unstable":
                state = PieceState[row["verdict"].upper()]
                pieces = found.setdefault(row["torrent"], {})
                pieces.update(dict.fromkeys(range(row["first_piece"], row["end_piece"]), state))
    return {torrent: bytes(pieces[i] for i in range(len(pieces))) for torrent, pieces in found.items()}


def on_one_machine(torrents: list[Torrent], root: Path) -> dict[str, bytes]:
    """Returns the same without a cluster."""
    return {torrent.info_hash: torrent.verify(root / torrent.name).pieces for torrent in torrents}


def within(seconds, function, *arguments, **options):
    """Returns the result of a call, which waits for ever if the code is broken."""
    result: concurrent.futures.Future = concurrent.futures.Future()

    def call() -> None:
        try:
            result.set_result(function(*arguments, **options))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return result.result(timeout=seconds)


def test_the_verdict_is_that_of_one_machine(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    seen: list[tuple[int, int]] = []
    manifest = tmp_path / "report"
    summary = verify_many(
        torrents, root, client=client, manifest=manifest, task_bytes=4 * PIECE, progress=lambda *both: seen.append(both)
    )
    expected = on_one_machine(torrents, root)
    assert states(manifest) == expected
    assert summary.wanted == sum(map(len, expected.values()))
    assert summary.proven == summary.counts["have"]
    assert summary.counts == {
        state.name.lower(): sum(pieces.count(state) for pieces in expected.values())
        for state in (PieceState.HAVE, PieceState.BAD, PieceState.MISSING)
    }
    assert not summary.is_ok
    assert seen[-1][0] == seen[-1][1] > 0
    (bad,) = [row for row in summary.faults if row["torrent"] == torrents[0].info_hash]
    assert (bad["first_piece"], bad["end_piece"], bad["file"], bad["verdict"]) == (5, 6, "a", "bad")
    content = (root / "torrent-0" / "a").read_bytes()
    assert bad["got"] == hashlib.sha1(content[5 * PIECE : 6 * PIECE]).hexdigest()
    assert torrents[0].piece_hashes is not None
    assert bad["wanted"] == torrents[0].piece_hashes[5].hex()
    assert len(read_manifest(manifest).compute()) == sum(1 for part in parts(manifest) for _ in rows_of(part))


@pytest.mark.parametrize("parquet", [False, True])
def test_a_second_call_does_what_is_missing_wrong_or_old(client, archive, tmp_path: Path, parquet: bool) -> None:
    torrents, root = archive
    options = {
        "client": client, "manifest": tmp_path / "report", "task_bytes": 8 * PIECE, "parquet": parquet, "resume": True
    }  # fmt: skip
    first = verify_many(torrents[:2], root, **options)
    wrong = len({row["unit"] for row in first.faults})
    assert first.skipped == 0
    second = verify_many(torrents, root, **options)
    assert second.skipped == first.checked - wrong
    third = verify_many(torrents, root, **options)
    units = {row["unit"] for row in third.faults}
    assert third.checked == len(units) > wrong
    assert (third.counts, third.wanted, third.proven) == (second.counts, second.wanted, second.proven)
    assert {part.suffix for part in parts(tmp_path / "report")} == {".parquet" if parquet else ".jsonl"}
    # The results of the first call are older, and come first.
    fourth = verify_many(torrents, root, max_age=0, **options)
    assert fourth.checked == third.skipped + third.checked
    assert fourth.counts == third.counts


def test_sums_and_checks(client, archive, tmp_path: Path) -> None:
    _, root = archive
    files = sorted(path for path in root.rglob("*") if path.is_file())
    summary = sum_many([f"{root}/**"], "sha1", client=client, manifest=tmp_path / "sums", task_bytes=PIECE)
    assert summary.is_ok
    assert summary.counts == {"read": len(files)}
    got = {row["file"]: row["got"] for part in parts(tmp_path / "sums") for row in rows_of(part)}
    assert got == {str(path): hashlib.sha1(path.read_bytes()).hexdigest() for path in files}
    sums = tmp_path / "archive" / "SHA1SUMS"
    lines = [f"{got[str(path)]}  {path.relative_to(root)}\n" for path in files]
    sums.write_text("".join([*lines, f"SHA256 (absent) = {'0' * 64}\n"]))
    flip(files[0], 0)
    checked = check_many(sums, client=client, manifest=tmp_path / "checks")
    assert checked.counts == {"have": len(files) - 1, "bad": 1, "missing": 1}
    bad, missing = sorted(checked.faults, key=lambda row: row["verdict"])
    assert (bad["file"], bad["wanted"]) == (str(files[0]), got[str(files[0])])
    assert missing["file"] == str(root / "absent")
    sums.write_text("no sum\n")
    with pytest.raises(ValueError, match="line 1: not a sum"):
        check_many(sums, client=client, manifest=tmp_path / "checks")


def test_a_resource_that_no_worker_has_is_an_error_at_once(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    options = {"client": client, "manifest": tmp_path / "report"}
    with pytest.raises(ValueError, match="^vol:B: no worker has this resource"):
        within(60, verify_many, torrents, root, where={str(root): "vol:B"}, **options)
    with pytest.raises(ValueError, match="no folder of where contains it"):
        verify_many(torrents, root, where={"/elsewhere": "vol:A"}, **options)
    summary = verify_many(torrents, root, where={str(root): "vol:A"}, **options)
    assert states(tmp_path / "report") == on_one_machine(torrents, root)
    assert {row["volume"] for row in summary.faults} == {"vol:A"}


def test_killed_workers_change_no_verdict(archive, tmp_path: Path) -> None:
    torrents, root = archive
    manifest = tmp_path / "report"
    done = threading.Event()
    kills: list[int] = []
    # Dask gives up a task when the first worker is lost with it, and does not run it on three others first.
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), cluster() as client:

        def kill() -> None:
            seen: dict[int, float] = {}
            while not done.is_set() and len(kills) < 20:
                now = time.monotonic()
                running = [nanny.pid for nanny in client.cluster.workers.values() if nanny.status.name == "running"]
                seen = {pid: seen.get(pid, now) for pid in running if pid}
                # A worker that ends while it starts is not started again by its nanny.
                for pid in [pid for pid, first in seen.items() if now - first > 0.5 and pid not in kills][:1]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        kills.append(pid)
                done.wait(0.05)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            while killer.is_alive():
                # One piece in a task, and again from the start, until all kills have happened.
                verify_many(torrents, root, client=client, manifest=manifest, task_bytes=PIECE)
        finally:
            done.set()
            killer.join()
    assert len(set(kills)) == 20
    assert states(manifest) == on_one_machine(torrents, root)
    assert not [
        row for part in parts(manifest) for row in rows_of(part) if row["verdict"] in ("unreadable", "unstable")
    ]


def test_a_worker_that_hangs_is_left_out(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    pids = client.run(os.getpid)
    stopped = next(iter(pids.values()))
    os.kill(stopped, signal.SIGSTOP)
    try:
        options = {"client": client, "manifest": tmp_path / "report", "task_bytes": 8 * PIECE, "timeout": 3}
        summary = within(300, verify_many, torrents, root, **options)
    finally:
        os.kill(stopped, signal.SIGCONT)
    assert states(tmp_path / "report") == on_one_machine(torrents, root)
    assert "unreadable" not in summary.counts


def test_a_task_whose_result_does_not_arrive_runs_again(
    client, archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torrents, root = archive
    gather, lost = client.gather, []

    def hang_once(future, **options):
        if lost:
            return gather(future, **options)
        lost.append(future.key)
        return asyncio.sleep(3600)

    monkeypatch.setattr(client, "gather", hang_once)
    monkeypatch.setattr(sys.modules["hashlane.dask._window"], "RESULT_TIMEOUT", 2.0)
    within(300, verify_many, torrents, root, client=client, manifest=tmp_path / "report")
    assert len(lost) == 1
    assert states(tmp_path / "report") == on_one_machine(torrents, root)


def test_a_host_without_its_mount_is_an_error(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    away = root.rename(tmp_path / "away")
    for prepare in (lambda: None, root.mkdir):
        prepare()
        summary = verify_many(torrents, root, client=client, manifest=tmp_path / "report", retries=1)
        assert set(summary.counts) == {"unreadable"}
        assert all("is the volume mounted?" in row["error"] for row in summary.faults)
    # Nothing of this is a result: with the mount, all is read.
    root.rmdir()
    away.rename(root)
    again = verify_many(torrents, root, client=client, manifest=tmp_path / "report", resume=True)
    assert again.skipped == 0
    assert "unreadable" not in again.counts
    assert states(tmp_path / "report") == on_one_machine(torrents, root)


def test_another_host_reads_what_a_host_without_its_mount_cannot(
    client, archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torrents, root = archive
    # A worker that sees an empty folder in place of the volume.
    script = f"mount -t tmpfs none '{root}' && exec '{sys.executable}' -m distributed.cli.dask_worker"
    argv = ["unshare", "--mount", "sh", "-c", f"{script} {client.scheduler.address} --nthreads 8 --no-dashboard"]
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespace can be made; run as root")
    others = set(client.nthreads())
    submit, placed = client.submit, []

    def place(function, load, *arguments, **options) -> "distributed.Future":
        """Submits the first attempts to that worker, and records where the code wants the others."""
        nonlocal placed
        _, items = pickle.loads(load.data)
        if items[0].unit not in {unit for unit, _ in placed}:
            placed += [(item.unit, None) for item in items]
            options["workers"] = [blind]
        else:
            placed.append((items[0].unit, options.get("workers")))
        return submit(function, load, *arguments, **options)

    with subprocess.Popen([*argv], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path) as worker:
        try:
            client.wait_for_workers(len(others) + 1, timeout=60)
            (blind,) = set(client.nthreads()) - others
            monkeypatch.setattr(client, "submit", place)
            summary = within(300, verify_many, torrents, root, client=client, manifest=tmp_path / "report")
        finally:
            worker.terminate()
    assert not [(row["error"], row["worker"]) for row in summary.faults if row["verdict"] == "unreadable"]
    assert states(tmp_path / "report") == on_one_machine(torrents, root)
    again = [workers for _, workers in placed if workers is not None]
    # The file that is missing on all workers is looked for twice.
    assert len(again) == 3 + 1
    assert all(set(workers) <= others for workers in again[:3])


def test_a_full_disk_for_the_report_is_an_error(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    manifest = tmp_path / "report"
    manifest.mkdir()
    options = {"client": client, "manifest": manifest, "task_bytes": PIECE}
    if ctypes.CDLL(None, use_errno=True).mount(b"none", bytes(manifest), b"tmpfs", 0, b"size=16k"):
        pytest.skip("nothing can be mounted; run as root")
    try:
        with pytest.raises(OSError, match="the report ends here") as caught:
            verify_many(torrents, root, **options)
        assert caught.value.errno == errno.ENOSPC
        assert str(caught.value.filename).startswith(str(manifest))
        (part,) = parts(manifest)
        kept = len({row["unit"] for row in rows_of(part)})
        assert part.read_bytes().endswith(b"\n")
        subprocess.run(["mount", "-o", "remount,size=16m", manifest], check=True)
        summary = verify_many(torrents, root, resume=True, **options)
        assert kept >= summary.skipped > 0
        assert states(manifest) == on_one_machine(torrents, root)
    finally:
        subprocess.run(["umount", manifest], check=True)


def test_results_that_disagree_are_an_unstable_read(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    path = root / "torrent-0" / "a"
    options = {"client": client, "manifest": tmp_path / "report", "task_bytes": 4 * PIECE}
    before = verify_many(torrents[:1], root, **options)
    assert not before.unstable
    # The same size, time and inode with other bytes: what a host reads whose memory or cable is broken.
    moment = path.stat().st_mtime_ns
    content = bytearray(path.read_bytes())
    content[10 * PIECE] ^= 1
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(moment, moment))
    after = verify_many(torrents[:1], root, **options)
    (row,) = after.unstable
    assert (row["first_piece"], row["torrent"]) == (8, torrents[0].info_hash)
    host = next(iter(client.scheduler_info()["workers"].values()))["name"]
    assert row["error"].count(" on ") == 2, host
    assert after.counts["bad"] == before.counts["bad"] + 1
    # The wrong hash stays. Two equal results are stable.
    known = verify_many(torrents[:1], root, resume=True, **options)
    assert (known.counts, known.unstable) == (after.counts, [])
    # A file that was written in between is another content, which may differ.
    flip(path, 10 * PIECE)
    assert not verify_many(torrents[:1], root, **options).unstable


def test_damaged_reports_are_refused(client, archive, tmp_path: Path) -> None:
    torrents, root = archive
    options = {"client": client, "manifest": tmp_path / "report"}
    verify_many(torrents, root, **options)
    (part,) = parts(tmp_path / "report")
    part.write_bytes(part.read_bytes() + b'{"unit": "half of a ro')
    assert verify_many(torrents, root, **options).wanted > 0
    part.write_bytes(part.read_bytes() + b"w\n")
    with pytest.raises(ValueError, match="jsonl: line .*: not a row"):
        verify_many(torrents, root, **options)


def test_the_command(client, archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torrents, root = archive
    paths = []
    for torrent in torrents:
        paths.append(str(tmp_path / f"{torrent.name}.torrent"))
        Path(paths[-1]).write_bytes(bytes(torrent))
    common = ["--scheduler", client.scheduler.address, "--manifest", str(tmp_path / "report")]
    tasks = ["--task-bytes", str(4 * PIECE)]
    assert command.main(["verify", *paths, "--root", str(root), *common, *tasks]) == 1
    shown = capsys.readouterr()
    assert f"bad        {root}/torrent-0: a piece 5\n" in shown.out
    # Adjacent pieces of several tasks are in one line.
    assert re.search(rf"^missing    {root}/torrent-2: b pieces \d+ to \d+$", shown.out, re.MULTILINE)
    assert len(re.findall("^missing", shown.out, re.MULTILINE)) == 1
    assert "dashboard: http" in shown.err
    assert command.main(["sum", f"{root}/*/a", *common]) == 0
    assert "3 read" in capsys.readouterr().out
    assert command.main(["verify", *paths, "--root", str(root), *common, "--where", f"{root}=vol:B"]) == 2
    assert "vol:B: no worker has this resource" in capsys.readouterr().err


def test_content_of_other_file_systems(client, tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    folder.mkdir()
    (folder / "a").write_bytes(os.urandom(5 * PIECE))
    torrent = hashlane.create(folder, version="v1", piece_length=PIECE)
    root = f"file://{tmp_path}"
    summary = verify_many([torrent], root, client=client, manifest=tmp_path / "report", task_bytes=2 * PIECE)
    assert summary.is_ok
    assert summary.counts == {"have": 5}
    sums = sum_many([f"{root}/remote/*"], client=client, manifest=tmp_path / "sums")
    ((row,),) = [list(rows_of(part)) for part in parts(tmp_path / "sums")]
    assert sums.is_ok
    assert row["got"] == hashlib.sha256((folder / "a").read_bytes()).hexdigest()
    assert fsspec.core.url_to_fs(row["file"])[1] == str(folder / "a")


def slow_down(seconds: float) -> None:
    """Makes each task of this worker take longer."""
    from hashlane.dask import _work

    fast = _work._FUNCTIONS[_work.PieceRun]

    def slow(*arguments):
        time.sleep(seconds)
        return fast(*arguments)

    _work._FUNCTIONS[_work.PieceRun] = slow


def test_a_task_that_waits_for_its_turn_is_not_late(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a").write_bytes(os.urandom(12 * PIECE))
    torrent = hashlane.create(tmp_path / "t", version="v1", piece_length=PIECE)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=8, resources={"vol:A": 1}, dashboard_address=None, silence_logs=50
        ) as processes,
        distributed.Client(processes) as client,
    ):
        client.run(slow_down, 0.5)
        # The last task starts after six seconds.
        options = {"client": client, "manifest": tmp_path / "report", "where": {str(tmp_path): "vol:A"}, "timeout": 3}
        summary = within(300, verify_many, [torrent], tmp_path, task_bytes=PIECE, **options)
    assert summary.counts == {"have": 12}


def test_the_window_of_each_resource_has_the_tasks_that_it_can_run() -> None:
    workers = {
        "a": {"nthreads": 8, "resources": {"vol:A": 1.0, "vol:B": 40.0}},
        "b": {"nthreads": 4, "resources": {"vol:A": 1.0}},
    }
    assert slots_of(workers) == {None: 12, "vol:A": 2, "vol:B": 8}


def blind_worker(client: "distributed.Client", hidden: Path, cwd: Path) -> "subprocess.Popen[bytes]":
    """Starts a worker that sees an empty folder in place of one of the volume."""
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        pytest.skip("mount namespaces need root")
    script = f"mount -t tmpfs none '{hidden}' && exec '{sys.executable}' -m distributed.cli.dask_worker"
    argv = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        f"{script} {client.scheduler.address} --nthreads 1 --no-dashboard --no-nanny",
    ]
    return subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)


def test_a_worker_that_sees_less_hides_no_file(tmp_path: Path) -> None:
    root = tmp_path / "archive"
    lines = []
    for name in ("a/1", "a/2", "a/3", "b/1", "b/2", "b/3"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n")
    (root / "SUMS").write_text("".join(lines))
    torrent = hashlane.create(root, version="v1", piece_length=PIECE)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as processes,
        distributed.Client(processes) as client,
        blind_worker(client, root / "a", tmp_path) as worker,
    ):
        try:
            client.wait_for_workers(2, timeout=60)
            for _ in range(3):
                options = {"client": client, "manifest": tmp_path / "report"}
                summary = sum_many([f"{root}/*/*"], **options)
                assert (summary.counts, summary.is_ok) == ({"read": 6}, True)
                assert any(f"lists 3 of 6 files of {root}/*/*: not {root}/a/1" in note for note in summary.notes)
                checked = check_many(root / "SUMS", **options)
                assert (checked.counts, checked.is_ok) == ({"have": 6}, True)
                verified = verify_many([torrent], tmp_path, **options)
                assert (verified.counts, verified.is_ok) == ({"have": torrent.piece_count}, True)
        finally:
            worker.kill()


def test_a_killed_a_stopped_and_a_blind_worker_change_no_verdict(archive, tmp_path: Path, capsys) -> None:
    torrents, root = archive
    paths = []
    for torrent in torrents:
        paths.append(str(tmp_path / f"{torrent.name}.torrent"))
        Path(paths[-1]).write_bytes(bytes(torrent))
    with cluster() as client, blind_worker(client, root, tmp_path) as blind:
        killed, stopped = [nanny.pid for nanny in client.cluster.workers.values()][:2]
        try:
            client.wait_for_workers(5, timeout=60)
            client.run(slow_down, 0.1, workers=[nanny.worker_address for nanny in client.cluster.workers.values()])
            os.kill(stopped, signal.SIGSTOP)
            threading.Timer(1.0, os.kill, (killed, signal.SIGKILL)).start()
            argv = ["verify", *paths, "--root", str(root), "--scheduler", client.scheduler.address]
            argv += ["--manifest", str(tmp_path / "report"), "--task-bytes", str(4 * PIECE), "--timeout", "4"]
            assert within(300, command.main, argv) == 1
        finally:
            os.kill(stopped, signal.SIGCONT)
            blind.kill()
    assert states(tmp_path / "report") == on_one_machine(torrents, root)
    shown, notes = capsys.readouterr()
    expected = on_one_machine(torrents, root)
    proven = sum(pieces.count(PieceState.HAVE) for pieces in expected.values())
    assert f"{proven} of {sum(map(len, expected.values()))} proven: " in shown
    assert "unreadable" not in shown
    # The output says what was wrong with each worker.
    assert "the worker left the cluster" in notes
    assert "for 4 s: others did its tasks" in notes or "within 4 s: it received no further task" in notes
    assert f"{root}: is empty on " in notes
