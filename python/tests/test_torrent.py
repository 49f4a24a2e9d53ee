"""Torrents: attributes, verification and creation."""

import errno
import os
import pickle
from pathlib import Path

import fsspec
import hashlane
import pytest
from hashlane import PieceState, Torrent


@pytest.fixture
def content(tmp_path: Path) -> Path:
    folder = tmp_path / "content"
    (folder / "inner").mkdir(parents=True)
    (folder / "a").write_bytes(os.urandom(100_000))
    (folder / "inner" / "b").write_bytes(os.urandom(70_000))
    (folder / "empty").write_bytes(b"")
    return folder


@pytest.mark.parametrize("version", ["v1", "v2", "hybrid"])
def test_a_new_torrent_verifies_its_content(content: Path, version: str) -> None:
    torrent = hashlane.create(
        content, version=version, piece_length=16384, trackers=["http://tracker.invalid/a"], comment="c", private=True
    )
    assert torrent.version == version
    assert torrent.name == "content"
    assert torrent.trackers == [["http://tracker.invalid/a"]]
    assert (torrent.comment, torrent.private, torrent.created_by) == ("c", True, "hashlane")
    assert (torrent.info_hash_v1 is None) == (version == "v2")
    assert (torrent.info_hash_v2 is None) == (version == "v1")
    assert torrent.info_hash in torrent.magnet()
    assert torrent.length == 170_000
    files = [file.path for file in torrent.files if file.kind == "file"]
    assert sorted(files) == ["a", "empty", "inner/b"]
    report = torrent.verify(content)
    assert report.is_complete
    assert report.have == b"\1" * torrent.piece_count
    assert report.counts[PieceState.HAVE] == torrent.piece_count
    assert report.have_bytes == report.total_bytes
    assert all(file.is_whole for file in report.files)


def test_edits_keep_the_info_hash(content: Path) -> None:
    torrent = hashlane.create(
        content, version="hybrid", trackers=["http://a.invalid/x"], comment="old", source="s", private=False
    )
    before = bytes(torrent)
    edited = torrent.edit(
        trackers=["http://b.invalid/y", ["http://c.invalid/z", "http://d.invalid/z"]],
        add_web_seeds=["https://e.invalid/"],
        nodes=[("f.invalid", 6881)],
        collections=["g"],
        similar=["3ff6fe577e89feeb7c20674a06744c2f30efcd5f"],
        comment=None,
        created_by="h",
        creation_date=1,
    )
    assert edited.trackers == [["http://b.invalid/y"], ["http://c.invalid/z", "http://d.invalid/z"]]
    assert edited.web_seeds == ["https://e.invalid/"]
    assert edited.nodes == [("f.invalid", 6881)]
    assert edited.collections == ["g"]
    assert b"7:similarl20:\x3f\xf6\xfe" in bytes(edited)
    assert (edited.comment, edited.created_by, edited.creation_date) == (None, "h", 1)
    assert (edited.info_hash_v1, edited.info_hash_v2) == (torrent.info_hash_v1, torrent.info_hash_v2)
    assert bytes(torrent) == before
    same = edited.edit(source="s", private=False, name="content")
    assert bytes(same) == bytes(edited)
    moved = edited.edit(
        remove_trackers=["d.invalid"],
        remove_web_seeds=["e.invalid"],
        replace={"invalid/z": "example/key"},
        add_trackers=["http://i.invalid/"],
    )
    assert moved.trackers == [["http://b.invalid/y"], ["http://c.example/key"], ["http://i.invalid/"]]
    assert moved.web_seeds == []


@pytest.mark.parametrize(("change", "value"), [("name", "other"), ("source", "t"), ("source", None), ("private", True)])
def test_edits_of_the_info_dictionary_change_the_info_hash(content: Path, change: str, value: object) -> None:
    torrent = hashlane.create(content, version="hybrid", source="s", comment="kept")
    edited = torrent.edit(**{change: value})  # type: ignore[arg-type]
    assert getattr(edited, change) == value
    assert edited.info_hash_v1 != torrent.info_hash_v1
    assert edited.info_hash_v2 != torrent.info_hash_v2
    assert edited.comment == "kept"
    assert edited.name == "other" or edited.verify(content).is_complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trackers": ["no url"]}, 'trackers: "no url": expected a URL'),
        ({"add_trackers": [["http://a.invalid/", "b"]]}, 'trackers: "b": expected a URL'),
        ({"add_web_seeds": ["seed"]}, 'web_seeds: "seed": expected a URL'),
        ({"similar": ["3ff6"]}, 'similar: "3ff6": expected an info-hash'),
        ({"name": "a/b"}, 'the name "a/b" '),
        ({"replace": {"": "x"}}, "replace: the text to replace is empty"),
    ],
)
def test_wrong_edits_are_refused(content: Path, change: dict[str, object], message: str) -> None:
    torrent = hashlane.create(content)
    with pytest.raises(ValueError) as caught:
        torrent.edit(**change)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


def test_new_torrents_have_valid_urls(content: Path) -> None:
    with pytest.raises(ValueError, match='trackers: "tracker": expected a URL'):
        hashlane.create(content, trackers=["tracker"])
    with pytest.raises(ValueError, match='web_seeds: "seed": expected a URL'):
        hashlane.create(content, web_seeds=["seed"])


def test_damage_is_found(content: Path) -> None:
    torrent = hashlane.create(content, version="v1", piece_length=16384)
    with open(content / "a", "r+b") as file:
        file.seek(20_000)
        file.write(b"damage")
    (content / "inner" / "b").unlink()
    report = torrent.verify(content)
    assert not report.is_complete
    assert report.pieces[0] == PieceState.HAVE
    assert report.pieces[1] == PieceState.BAD
    assert report.pieces[-1] == PieceState.MISSING
    states = {file.path: file.state for file in report.files}
    assert states == {"a": "incomplete", "inner/b": "missing", "empty": "whole"}
    assert report.bitfield[0] & 0b1100_0000 == 0b1000_0000
    assert report.to_numpy()[1] == PieceState.BAD
    table = report.to_arrow()
    assert table.column("state").to_pylist() == [file.state for file in report.files]
    assert list(report.to_pandas()["bad"]) == [file.counts[PieceState.BAD] for file in report.files]


def test_torrents_and_reports_are_pickled(content: Path) -> None:
    torrent = hashlane.create(content)
    copy = pickle.loads(pickle.dumps(torrent))
    assert copy == torrent
    assert hash(copy) == hash(torrent)
    report = torrent.verify(content)
    assert pickle.loads(pickle.dumps(report)) == report


def test_progress_reaches_the_end(content: Path) -> None:
    torrent = hashlane.create(content)
    seen: list[tuple[int, int | None]] = []
    torrent.verify(content, progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


def test_an_exception_of_the_progress_ends_the_call(content: Path) -> None:
    torrent = hashlane.create(content)

    def fail(done: int, total: int | None) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        torrent.verify(content, progress=fail)


def test_one_text_is_no_list(content: Path) -> None:
    torrent = hashlane.create(content)
    url = "http://a.invalid/x"
    for call, name in (
        (lambda: hashlane.create(content, trackers=url), "trackers"),
        (lambda: hashlane.create(content, web_seeds=url), "web_seeds"),
        (lambda: torrent.edit(add_trackers=url), "add_trackers"),
        (lambda: torrent.edit(similar=torrent.info_hash), "similar"),
        (lambda: hashlane.digest_files(str(content / "a")), "paths"),
        (lambda: hashlane.digest_files(content / "a"), "paths"),  # type: ignore[arg-type]
        (lambda: hashlane.recover("1", kinds="p2pkh"), "kinds"),
        (lambda: hashlane.tree_digest(content, "git", exclude="*.tmp"), "exclude"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: expected a list, found one "):
            call()


def test_paths_may_be_bytes(content: Path, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9"
    os.rename(content, name)
    torrent = hashlane.create(name, name="content")
    assert torrent.verify(name).is_complete
    with open(name + b".torrent", "wb") as file:
        file.write(bytes(torrent))
    assert Torrent.open(name + b".torrent") == torrent
    assert hashlane.digest_files([name + b"/empty"]) == [hashlane.sha256().digest()]
    assert len(hashlane.tree_digest(name, "git")) == 40


def test_a_mistake_of_the_caller_is_no_state_of_content(content: Path) -> None:
    torrent = hashlane.create(content)
    fs = fsspec.filesystem("memory")
    fs.put(f"{content}/", "/mistake/", recursive=True)

    class Broken(type(fs)):  # type: ignore[misc]
        protocol = "broken"
        cachable = False

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return "/" + path.removeprefix("broken://").lstrip("/")

        def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: object) -> bytes:
            raise TypeError("an option is wrong")

    fsspec.register_implementation("broken", Broken, clobber=True)
    with pytest.raises(TypeError, match="an option is wrong"):
        torrent.verify("broken://mistake")


def test_damaged_torrents_name_the_place() -> None:
    with pytest.raises(hashlane.TorrentError, match="^byte 4: ") as caught:
        Torrent.parse(b"d1:ax")
    assert caught.value.position == 4
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == (str(caught.value), 4)


def test_errors_of_the_system_have_number_and_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        Torrent.open(tmp_path / "absent")
    assert caught.value.errno == errno.ENOENT
    assert caught.value.filename == str(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        hashlane.create(tmp_path / "absent")


def test_files_without_permission_are_in_the_report(content: Path) -> None:
    torrent = hashlane.create(content)
    (content / "a").unlink()
    (content / "a").mkdir()
    (report,) = [file for file in torrent.verify(content).files if file.path == "a"]
    assert report.state == "unreadable"
    assert isinstance(report.error, OSError)
    assert (report.error.errno, report.error.filename) == (errno.EISDIR, "a")


@pytest.mark.parametrize("damaged", [False, True])
def test_content_in_another_file_system(content: Path, damaged: bool) -> None:
    torrent = hashlane.create(content, version="hybrid", piece_length=16384)
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.put(f"{content}/", "/archive/", recursive=True)
    if damaged:
        fs.pipe("/archive/a", b"wrong" + fs.cat("/archive/a")[5:])
    remote = torrent.verify("memory://archive")
    if damaged:
        (content / "a").write_bytes(b"wrong" + (content / "a").read_bytes()[5:])
    assert remote.pieces == torrent.verify(content).pieces
    assert remote.is_complete is not damaged
    fs.rm("/archive/inner/b")
    assert {file.path: file.state for file in torrent.verify("memory://archive").files}["inner/b"] == "missing"


def test_magnet_links() -> None:
    link = "magnet:?xt=urn:btih:3ff6fe577e89feeb7c20674a06744c2f30efcd5f&dn=union%20addresses"
    magnet = Torrent.from_magnet(link)
    assert magnet.name == "union addresses"
    assert magnet.info_hash_v1 == "3ff6fe577e89feeb7c20674a06744c2f30efcd5f"
    assert str(magnet) == link
    assert pickle.loads(pickle.dumps(magnet)) == magnet
    with pytest.raises(ValueError):
        Torrent.from_magnet("magnet:?xt=urn:btih:short")


def test_digests_of_files(content: Path) -> None:
    import hashlib

    paths = [content / "a", content / "inner" / "b", content / "empty"]
    for name in ("sha1", "sha256", "md5", "blake3"):
        digests = hashlane.digest_files(paths, name)
        assert digests == [hashlane.new(name, path.read_bytes()).digest() for path in paths]
    assert hashlane.digest_files(paths)[0] == hashlib.sha256(paths[0].read_bytes()).digest()
    absent = content / "absent"
    with pytest.raises(FileNotFoundError) as caught:
        hashlane.digest_files([*paths, absent])
    assert caught.value.filename == str(absent)
    *rest, error = hashlane.digest_files([*paths, absent], return_errors=True)
    assert isinstance(error, FileNotFoundError)
    assert rest == hashlane.digest_files(paths)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_run_of_pieces_is_verified_alone(content: Path, version: str) -> None:
    torrent = hashlane.create(content, version=version, piece_length=16384)
    damage = bytearray((content / "a").read_bytes())
    damage[20_000] ^= 1
    damage[60_000] ^= 1
    (content / "a").write_bytes(damage)
    whole = torrent.verify(content).pieces
    assert whole.count(PieceState.BAD) == 2
    for place in (content, "memory://run"):
        if place != content:
            fsspec.filesystem("memory").put(f"{content}/", "/run/", recursive=True)
        parts = [torrent.verify(place, pieces=range(i, min(i + 3, len(whole)))) for i in range(0, len(whole), 3)]
        for i, part in enumerate(parts):
            first, end = 3 * i, min(3 * i + 3, len(whole))
            unchecked = bytes(first), bytes(len(whole) - end)
            assert part.pieces == unchecked[0] + whole[first:end] + unchecked[1]
    for refused in (range(1, 0), range(0, 1000), range(0, 4, 2)):
        with pytest.raises(ValueError, match="^pieces: range"):
            torrent.verify(content, pieces=refused)


def test_a_file_that_is_too_long_is_not_whole(content: Path) -> None:
    torrent = hashlane.create(content, version="v1", piece_length=16384)
    with open(content / "a", "ab") as file:
        file.write(b"more")
    report = torrent.verify(content)
    states = {file.path: (file.state, file.is_whole) for file in report.files}
    assert states["a"] == ("too long", True)
    assert states["inner/b"] == ("whole", True)
    # Only the expected bytes are checked.
    assert report.is_complete


def test_a_report_has_a_short_text(content: Path) -> None:
    torrent = hashlane.create(content, version="v1", piece_length=16384)
    (content / "inner" / "b").unlink()
    report = torrent.verify(content)
    have, missing = report.counts[PieceState.HAVE], report.counts[PieceState.MISSING]
    assert repr(report) == f"<Report not complete: {have} HAVE, {missing} MISSING pieces, 3 files>"


def test_a_torrent_is_written_as_a_whole(content: Path, tmp_path: Path) -> None:
    torrent, path = hashlane.create(content), tmp_path / "t.torrent"
    torrent.write(path)
    assert Torrent.open(path) == torrent
    other = torrent.edit(comment="other")
    with pytest.raises(FileExistsError):
        other.write(path)
    assert Torrent.open(path) == torrent
    other.write(os.fsencode(path), overwrite=True)
    assert Torrent.open(path) == other
    with pytest.raises(FileNotFoundError):
        torrent.write(tmp_path / "absent" / "t.torrent")
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.endswith(".part")] == []
