"""Digests of folders, lists of checksums, and content that is not on the disk."""

import hashlib
import io
import os
import subprocess
import threading
from pathlib import Path

import fsspec
import hashlane
import pytest
from fsspec.implementations.memory import MemoryFileSystem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "inner" / "empty").mkdir(parents=True)
    for name in (b"b", b"a", b"inner/c", b"caf\xe9", b"new\nline"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(name * 100)
    (folder / "link").symlink_to("a")
    os.mkfifo(folder / "pipe")
    return folder


def paths(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_folder_is_hashed_in_the_order_of_names(folder: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    digests = hashlane.hash_tree(folder, "sha1", progress=lambda *both: seen.append(both))
    expected = paths(folder)
    assert (len(digests), digests.total_bytes) == (len(expected), sum(map(len, expected.values())))
    found = list(digests)
    assert [file.path for file in found] == sorted(expected)
    assert {file.path: file.digest for file in found} == {
        path: hashlib.sha1(data).digest() for path, data in expected.items()
    }
    assert seen[-1] == (digests.total_bytes, digests.total_bytes)
    assert repr(digests) == f"<FolderDigests 5 files, {digests.total_bytes} bytes>"


def test_what_a_folder_hides_is_an_error_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str):
        if str(path).endswith("inner/"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    by_path = {file.path: file for file in hashlane.hash_tree(folder)}
    assert isinstance(by_path["inner"].error, PermissionError)
    assert (by_path["inner"].digest, by_path["inner"].hexdigest) == (None, None)
    assert "inner/c" not in by_path
    monkeypatch.undo()
    digests = hashlane.hash_tree(folder)
    (folder / "b").unlink()
    by_path = {file.path: file for file in digests}
    assert isinstance(by_path["b"].error, FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        hashlane.hash_tree(folder / "absent")
    with pytest.raises(ValueError, match="unsupported hash type nothing"):
        hashlane.hash_tree(folder, "nothing")


def test_a_cancelled_folder_has_no_more_results(folder: Path) -> None:
    event = threading.Event()
    event.set()
    with pytest.raises(hashlane.Cancelled):
        list(hashlane.hash_tree(folder, cancel=event))


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("algorithm", ["sha256", "sha512", "md5"])
def test_lists_are_those_of_coreutils(folder: Path, tagged: bool, algorithm: str) -> None:
    sums = folder / "SUMS"
    count = hashlane.write_sums(sums, folder, algorithm, tagged=tagged)
    assert count == len(paths(folder)) - 1
    run = subprocess.run([f"{algorithm}sum", "--check", "--strict", "--quiet", sums], cwd=folder, check=False)
    assert run.returncode == 0
    report = hashlane.check_sums(sums)
    assert (report.is_ok, len(report.files), report.faults) == (True, count, ())
    with pytest.raises(FileExistsError):
        hashlane.write_sums(sums, folder)
    # A list that exists is no part of itself.
    assert hashlane.write_sums(sums, folder, algorithm, tagged=tagged, overwrite=True) == count
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".part") == []


def test_checks_name_what_is_wrong(folder: Path) -> None:
    sums = folder / "SUMS"
    hashlane.write_sums(sums, [folder / "a", folder / "b", folder / "inner" / "c"])
    (folder / "a").write_bytes(b"other")
    (folder / "b").unlink()
    (folder / "inner" / "c").unlink()
    (folder / "inner" / "c").mkdir()
    report = hashlane.check_sums(sums)
    assert [(file.path, file.state) for file in report.files] == [
        ("a", "bad"),
        ("b", "missing"),
        ("inner/c", "unreadable"),
    ]
    assert isinstance(report.files[2].error, IsADirectoryError)
    assert (report.is_ok, report.faults) == (False, report.files)
    (folder / "EMPTY").write_text("# nothing\n")
    assert not hashlane.check_sums(folder / "EMPTY").is_ok
    assert not hashlane.check_sums({}).is_ok


def test_a_list_with_an_unreadable_file_is_not_written(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hashlane.write_sums(tmp_path / "SUMS", [folder / "a", folder / "absent"])
    with pytest.raises(ValueError, match="is not in the subpath"):
        hashlane.write_sums(folder / "inner" / "SUMS", [folder / "a"])
    assert not (tmp_path / "SUMS").exists()
    assert list(folder.rglob("*SUMS*")) == []


# Content that is not on the disk.


@pytest.fixture
def store(folder: Path) -> MemoryFileSystem:
    (folder / "link").unlink()
    (folder / "pipe").unlink()
    for path in list(folder.iterdir()):
        if b"\xe9" in os.fsencode(path) or "\n" in path.name:
            path.unlink()
    store = fsspec.filesystem("memory")
    store.put(f"{folder}/", "/bucket/folder/", recursive=True)
    return store


def test_digests_of_urls_and_open_files(folder: Path, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(folder / "a", "rb") as opened:
        opened.seek(5)
        sources = [folder / "b", "memory://bucket/folder/inner/c", io.BytesIO(b"abc"), opened, bytes(folder / "a")]
        seen: list[int] = []
        digests = hashlane.digest_files(sources, "sha512", progress=lambda done, _: seen.append(done))
    contents = [(folder / "b").read_bytes(), (folder / "inner" / "c").read_bytes(), b"abc"]
    contents += [(folder / "a").read_bytes()[5:], (folder / "a").read_bytes()]
    assert digests == [hashlib.sha512(content).digest() for content in contents]
    assert seen
    (missing,) = hashlane.digest_files(["memory://bucket/absent"], return_errors=True)
    assert isinstance(missing, FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        hashlane.digest_files(["memory://bucket/absent"])
    # A mistake of the caller is no state of content.
    with pytest.raises(TypeError, match="expected a path, a URL or a binary file, found int"):
        hashlane.digest_files([5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="options of a file system without a URL: key"):
        hashlane.digest_files([folder / "a"], key=5)

    def mistake(self: object, path: str, *arguments: object, **options: object) -> None:
        raise TypeError("no such option")

    monkeypatch.setattr(MemoryFileSystem, "open", mistake)
    with pytest.raises(TypeError, match="no such option"):
        hashlane.digest_files(["memory://bucket/folder/a"], return_errors=True)


def test_a_read_of_a_store_is_cancelled(store: MemoryFileSystem) -> None:
    event = threading.Event()

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            event.set()
            return bytes(1000)

    with pytest.raises(hashlane.Cancelled):
        hashlane.digest_files([Endless()], cancel=event)  # type: ignore[list-item]


def test_torrents_and_trees_of_urls_and_open_files(folder: Path, store: MemoryFileSystem) -> None:
    options = {"creation_date": 0, "piece_length": 16384}
    expected = hashlane.create(folder, **options)  # type: ignore[arg-type]
    created = hashlane.create("memory://bucket/folder", **options)  # type: ignore[arg-type]
    assert created == expected
    assert created.verify("memory://bucket/folder").is_complete
    with open(folder / "a", "rb") as opened:
        assert hashlane.create(opened, **options) == hashlane.create(folder / "a", **options)  # type: ignore[arg-type]
        assert hashlane.tree_digest(opened, "fsverity") == hashlane.tree_digest(folder / "a", "fsverity")
        opened.seek(1)
        rest = io.BytesIO(opened.read())
        opened.seek(1)
        assert hashlane.tree_digest(opened, "git") == hashlane.tree_digest(rest, "git")
    assert hashlane.tree_digest("memory://bucket/folder", "git") == hashlane.tree_digest(folder, "git")
    cid = hashlane.tree_digest(folder / "a", "cid")
    assert hashlane.tree_check("memory://bucket/folder/a", "cid", cid)
    with pytest.raises(FileNotFoundError):
        hashlane.tree_digest("memory://bucket/absent", "git")
    # Errors of the work reach the caller.
    (folder / "exists").touch()
    for source in (open(folder / "a", "rb"), io.BytesIO(b"abc"), "memory://bucket/folder/a"):  # noqa: SIM115
        with pytest.raises(FileExistsError):
            hashlane.tree_digest(source, "fsverity", out_merkle_tree=folder / "exists")
        if not isinstance(source, str):
            source.close()
