"""The attributes of a torrent, compared with the output of the program."""

import json
import os
import subprocess
from pathlib import Path

import hashlane
import pytest
from hashlane import File, OtherKey, Torrent

ROOT = Path(__file__).parents[2]

# The keys of a torrent in JSON, and their attributes. The first key names the file.
ATTRIBUTES = {
    "name": lambda t: t.name,
    "version": lambda t: t.version,
    "info_hash_v1": lambda t: t.info_hash_v1,
    "info_hash_v2": lambda t: t.info_hash_v2,
    "single_file": lambda t: t.is_single_file,
    "content_bytes": lambda t: t.length,
    "total_bytes": lambda t: t.total_length,
    "piece_length": lambda t: t.piece_length,
    "pieces": lambda t: t.piece_count,
    "private": lambda t: t.private,
    "source": lambda t: t.source,
    "comment": lambda t: t.comment,
    "created_by": lambda t: t.created_by,
    "encoding": lambda t: t.encoding,
    "creation_date": lambda t: t.creation_date,
    "trackers": lambda t: t.trackers,
    "web_seeds": lambda t: t.web_seeds,
    "http_seeds": lambda t: t.http_seeds,
    "nodes": lambda t: [f"{host}:{port}" for host, port in t.nodes],
    "similar": lambda t: t.similar,
    "collections": lambda t: t.collections,
    "other_keys": lambda t: [other(key) for key in t.other_keys],
    "magnet": lambda t: t.magnet(),
    "notes": lambda t: t.notes,
}

KINDS = {"regular": "file", "padding": "padding", "link": "link"}

FILE_ATTRIBUTES = {
    "path": lambda f: f.path,
    "length": lambda f: f.length,
    "offset": lambda f: f.offset,
    "executable": lambda f: f.executable,
    "hidden": lambda f: f.hidden,
    "renamed": lambda f: f.renamed,
    "pieces_root": lambda f: f.root.hex() if f.root else None,
    "piece_layer": lambda f: f.has_piece_layer,
}


def other(key: OtherKey) -> dict[str, object]:
    """Returns the object of a key in JSON, which has only short values."""
    value: object = key.value
    length = len(value) if isinstance(value, bytes) else len(f"i{value}e")
    if isinstance(value, bytes):
        value = value.decode() if key.kind == "string" else None
    return {"key": key.key, "in_info": key.in_info, "kind": key.kind, "bytes": length, "value": value}


def odd_torrent() -> bytes:
    """Returns a torrent with names that cannot be used, unsorted and unknown keys, and a byte at its end."""
    files = "d6:lengthi1e4:pathl2:..1:aeed6:lengthi0e4:pathl2:..1:aee"
    info = f"4:name1:n5:filesl{files}e12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx5:otheri7e"
    return f"d1:ale1:bd1:ci1ee1:x4:texte4:infod{info}ee\n".replace("4:texte4", "4:text4").encode()


def torrents(folder: Path) -> dict[str, Torrent]:
    content = folder / "content"
    content.mkdir()
    for name, length in {"a": 100_000, "b": 10, "c": 70_000}.items():
        (content / name).write_bytes(os.urandom(length))
    (content / "b").chmod(0o755)
    (content / "d").symlink_to("a")
    hybrid = hashlane.create(content, piece_length=16384, trackers=["http://a.invalid/announce"], comment="c")
    return {
        "demo": Torrent.open(ROOT / "demo" / "union-addresses.torrent"),
        "odd": Torrent.parse(odd_torrent()),
        "hybrid": hybrid,
        "v2": hashlane.create(content / "a", version="v2", source="s"),
        "rich": hybrid.edit(
            add_trackers=[["udp://b.invalid:1/announce", "http://c.invalid/announce"]],
            web_seeds=["https://d.invalid/"],
            nodes=[("e.invalid", 6881)],
            similar=["3ff6fe577e89feeb7c20674a06744c2f30efcd5f"],
            collections=["g", "h"],
            created_by=None,
            creation_date=1,
        ),
    }


def program() -> Path:
    for profile in ("release", "debug"):
        path = ROOT / "target" / profile / "hashlane"
        if path.exists():
            return path
    pytest.skip("the program is not built; make build")


@pytest.mark.parametrize("name", ["demo", "odd", "hybrid", "v2", "rich"])
def test_attributes_equal_the_output_of_show(name: str, tmp_path: Path) -> None:
    torrent = torrents(tmp_path)[name]
    path = tmp_path / "t.torrent"
    path.write_bytes(bytes(torrent))
    run = subprocess.run([program(), "show", "--json", path], capture_output=True, text=True, check=True)
    shown, *files = [json.loads(line) for line in run.stdout.splitlines()]
    assert shown.keys() - {"type", "torrent"} == ATTRIBUTES.keys()
    for key, value in ATTRIBUTES.items():
        assert value(torrent) == shown[key], key
    assert len(files) == len(torrent.files)
    for file, shown in zip(torrent.files, files, strict=True):
        assert shown.keys() - {"type", "torrent", "index", "kind", "target"} == FILE_ATTRIBUTES.keys()
        for key, value in FILE_ATTRIBUTES.items():
            assert value(file) == shown[key], key
        assert file.kind == KINDS[shown["kind"]]
        assert file.target == shown.get("target", {}).get("path")


def test_attributes_of_an_odd_torrent() -> None:
    torrent = Torrent.parse(odd_torrent())
    assert torrent.other_keys == [
        OtherKey("a", False, "list", b"le"),
        OtherKey("b", False, "dictionary", b"d1:ci1ee"),
        OtherKey("x", False, "string", b"text"),
        OtherKey("other", True, "integer", 7),
    ]
    first, second = torrent.files
    assert first == File("_/a", 1, "file", None, None, False, False, 0, True, False)
    assert (second.path, second.offset, second.renamed) == ("_/a.1", 1, True)
    assert (torrent.length, torrent.total_length) == (1, 1)
    renamed, unsorted, trailing = torrent.notes
    assert renamed == "2 files of names that cannot be used, shown as libtorrent renames them"
    assert unsorted.startswith("keys of the info dictionary are not sorted, at byte ")
    assert trailing == "1 byte after the end of the torrent"


def test_attributes_of_versions(tmp_path: Path) -> None:
    all_torrents = torrents(tmp_path)
    hybrid, rich = all_torrents["hybrid"], all_torrents["rich"]
    assert hybrid.total_length > hybrid.length == 170_010
    layers = {file.path: (file.offset, file.has_piece_layer) for file in hybrid.files if file.kind == "file"}
    assert layers == {"a": (0, True), "b": (114_688, False), "c": (131_072, True)}
    assert rich.similar == ["3ff6fe577e89feeb7c20674a06744c2f30efcd5f"]
    assert hybrid.notes == []
