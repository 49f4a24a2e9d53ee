"""Tree hashes of files."""

import hashlib
import os
import shutil
import subprocess
import threading
import uuid
import zipfile
from pathlib import Path

import hashlane
import pytest

# The fs-verity digests by `fsverity digest` 1.5, and the CID by ipfs-unixfs-importer 17.1.1, of the file `a`.
PLAIN = "sha256:bce75948b9e7510293f8f2720412af9697c1479281323f3f220623fb8e94b557"
SALTED = "sha256:bfac0e766763e01dc1048800d684b953583f2e223baa0b1524147bf6c1353b9a"
CID = "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm"

# By the same importer, of a folder with the file `a` and the folder `sub`, and of `sub`, which has the file `b`.
FOLDER_CID = "bafybeidqujir4ensxula5ucznwuoouycv43gqt74a5dz2vcue7ysr5knui"
SUB_CID_V0 = "QmZfBgt9PZx6JD46UduVQ6o7bzfmuoSNXAJfPmkDUSthTo"


# Paths of 4096 bytes end the recursion below about 2000 folders.
DEEP = 1900


def require(program: str, package: str) -> None:
    """Skips a test if a program of a package of Debian is not installed, or fails if ``HASHLANE_TEST_REQUIRE_...`` is 1."""
    if shutil.which(program) is None:
        assert os.environ.get(f"HASHLANE_TEST_REQUIRE_{program.upper()}") != "1", f"{program} is not installed"
        pytest.skip(f"{program} is not installed; apt-get install {package}")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    # Without the settings of the user.
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd, env=env).stdout


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a"
    path.write_bytes(b"a")
    return path


def test_values_of_other_programs(file: Path) -> None:
    assert hashlane.tree_digest(file, "fsverity") == PLAIN
    assert hashlane.tree_digest(str(file), "fsverity", block_size=1024, salt=b"\0\xff", threads=1) == SALTED
    assert hashlane.tree_digest(file, "cid") == CID
    blob = hashlib.sha1(b"blob 1\0a").hexdigest()
    assert hashlane.tree_digest(file, "git") == blob
    assert {"git", "cid", "dmverity", "s3-etag"} <= hashlane.tree_digests_available


def test_parts_of_an_object(tmp_path: Path) -> None:
    part = 5 << 20
    parts = [bytes([number]) * part for number in range(2)] + [b"end"]
    file = tmp_path / "object"
    file.write_bytes(b"".join(parts))
    done: list[int] = []
    etag = hashlane.tree_digest(file, "s3-etag", part_size=part, progress=lambda n, _: done.append(n))
    expected = hashlib.md5(b"".join(hashlib.md5(part).digest() for part in parts)).hexdigest()
    assert etag == f"{expected}-3"
    assert done[-1] == file.stat().st_size


@pytest.mark.parametrize("verity_format", [0, 1])
@pytest.mark.parametrize("hash_name", ["sha1", "sha256", "sha512"])
def test_devices_of_veritysetup(tmp_path: Path, hash_name: str, verity_format: int) -> None:
    require("veritysetup", "cryptsetup-bin")
    data, device = tmp_path / "data", tmp_path / "device"
    data.write_bytes(os.urandom(512 * 300))
    options = (f"--hash={hash_name}", f"--format={verity_format}", "--salt=00ff")
    text = run("veritysetup", "format", *options, "--data-block-size=512", "--hash-block-size=512", data, device)
    root = text.split("Root hash:")[1].split()[0]
    parameters = {"block_size": 512, "salt": b"\0\xff", "hash_name": hash_name, "verity_format": verity_format}
    assert hashlane.tree_digest(data, "dmverity", **parameters) == root
    assert hashlane.tree_check(data, "dmverity", root.upper(), **parameters)
    assert not hashlane.tree_check(data, "dmverity", "00" * (len(root) // 2), **parameters)

    report = hashlane.verity_check(data, device, root)
    assert report.is_right
    assert (report.root_hash, report.blocks, report.damaged) == (root, 300, 0)
    other = bytes([bytes.fromhex(root)[0] ^ 1]) + bytes.fromhex(root)[1:]
    changed = hashlane.verity_check(data, device, other, threads=1)
    assert (changed.is_right, changed.has_root_hash, changed.damaged) == (False, False, 0)

    with data.open("r+b") as stream:
        for block in (7, 8, 299):
            stream.seek(512 * block + 5)
            byte = stream.read(1)
            stream.seek(-1, os.SEEK_CUR)
            stream.write(bytes([byte[0] ^ 1]))
        stream.seek(0, os.SEEK_END)
        stream.write(bytes(1024))
    with device.open("r+b") as stream:
        stream.seek(-1, os.SEEK_END)
        stream.write(b"x")
    report = hashlane.verity_check(data, str(device))
    assert not report.is_right
    assert report.has_root_hash
    assert report.damaged == 3
    assert report.damaged_ranges == (range(7, 9), range(299, 300))
    last = device.stat().st_size // 512 - 1
    assert (report.device_damaged, report.device_damaged_ranges) == (1, (range(last, last + 1),))
    assert report.bytes_beyond == 1024


def test_verity_leaves_no_bytes_out(tmp_path: Path) -> None:
    data = tmp_path / "odd"
    data.write_bytes(bytes(5000))
    with pytest.raises(OSError, match="no multiple of 4096 bytes"):
        hashlane.tree_digest(data, "dmverity")
    root = hashlane.tree_digest(data, "dmverity", data_blocks=1)
    with pytest.raises(OSError, match="no multiple of 4096 bytes"):
        hashlane.tree_check(data, "dmverity", root)
    assert hashlane.tree_check(data, "dmverity", root, data_blocks=1)
    data.write_bytes(bytes(8192))
    device = tmp_path / "device"
    parameters = {"block_size": 512, "hash_block_size": 1024, "hash_offset": 512}
    root = hashlane.tree_digest(data, "dmverity", hash_device=device, **parameters)
    assert hashlane.verity_check(data, device, root, hash_offset=512).is_right
    data.write_bytes(bytes(8193))
    report = hashlane.verity_check(data, device, root, hash_offset=512)
    assert (report.is_right, report.bytes_beyond) == (False, 1)


def test_folders_of_git(tmp_path: Path) -> None:
    require("git", "git")
    for name, object_format in [("git", "sha1"), ("git-sha256", "sha256")]:
        folder = tmp_path / name
        (folder / "sub" / "empty").mkdir(parents=True)
        run("git", "init", "-q", "--object-format", object_format, folder)
        (folder / "a").write_bytes(b"a")
        (folder / "sub" / "b").write_bytes(b"b")
        (folder / "sub" / "b").chmod(0o755)
        (folder / "sub.txt").write_bytes(b"after sub-, before sub/")
        (folder / "link").symlink_to("a")
        run("git", "add", "--force", ".", cwd=folder)
        tree = run("git", "write-tree", cwd=folder).strip()
        assert hashlane.tree_digest(folder, name) == tree
        assert hashlane.tree_check(folder, name, tree)
        (folder / "sub" / "b").chmod(0o644)
        assert not hashlane.tree_check(folder, name, tree)


def test_folders_of_ipfs(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "a").write_bytes(b"a")
    (folder / "sub" / "b").write_bytes(b"b")
    assert hashlane.tree_digest(folder, "cid") == FOLDER_CID
    assert hashlane.tree_digest(folder / "sub", "cid-v0") == SUB_CID_V0
    link = folder / "sub" / "link"
    link.symlink_to("b")
    with pytest.raises(OSError, match="is a symbolic link") as unfit:
        hashlane.tree_digest(folder, "cid")
    assert unfit.value.filename == str(link)
    link.unlink()
    link.mkdir()
    (link / ".git").mkdir()
    with pytest.raises(OSError, match="is a repository of its own") as unfit:
        hashlane.tree_digest(folder, "git")
    assert unfit.value.filename == str(link)
    with pytest.raises(OSError) as folders:
        hashlane.tree_digest(folder, "fsverity")
    assert folders.value.filename == str(folder)


def test_deep_folders(tmp_path: Path) -> None:
    """The thread that hashes has a small stack."""
    empty = hashlib.sha1(b"blob 0\0")
    tree = hashlib.sha1(b"tree 29\x00100644 f\0" + empty.digest())
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(DEEP):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=here))
    finally:
        os.close(here)
    for _ in range(DEEP):
        tree = hashlib.sha1(b"tree 28\x0040000 d\0" + tree.digest())
    found = hashlane.tree_digest(tmp_path, "git")
    # The removal by Python would recurse, too.
    run("rm", "-rf", tmp_path / "d")
    assert found == tree.hexdigest()


def test_checks(file: Path, tmp_path: Path) -> None:
    assert hashlane.tree_check(file, "fsverity", PLAIN)
    assert not hashlane.tree_check(file, "fsverity", SALTED)
    assert hashlane.tree_check(file, "fsverity", SALTED, block_size=1024, salt=b"\0\xff")
    with pytest.raises(ValueError, match="is no result of git"):
        hashlane.tree_check(file, "git", PLAIN)
    # The number of parts has their length.
    large = tmp_path / "object"
    large.write_bytes(bytes(12 << 20))
    parts = hashlib.md5(b"".join(hashlib.md5(bytes(6 << 20)).digest() for _ in range(2))).hexdigest()
    with pytest.raises(OSError, match="choose the length of a part") as unknown:
        hashlane.tree_check(large, "s3-etag", f'"{parts}-2"')
    assert unknown.value.filename == str(large)
    assert hashlane.tree_check(large, "s3-etag", f'"{parts}-2"', part_size=6 << 20)


def test_written_hash_devices(tmp_path: Path) -> None:
    require("veritysetup", "cryptsetup-bin")
    data, theirs, device = tmp_path / "data", tmp_path / "theirs", tmp_path / "device"
    data.write_bytes(os.urandom(4096 * 300))
    number = uuid.uuid4()
    text = run("veritysetup", "format", "--salt=00ff", f"--uuid={number}", data, theirs)
    root = text.split("Root hash:")[1].split()[0]
    assert hashlane.tree_digest(data, "dmverity", salt=b"\0\xff", hash_device=device, uuid=number) == root
    assert device.read_bytes() == theirs.read_bytes()
    with pytest.raises(FileExistsError) as exists:
        hashlane.tree_digest(data, "dmverity", hash_device=device)
    assert exists.value.filename == str(device)
    assert device.read_bytes() == theirs.read_bytes()
    text = run("veritysetup", "format", "--format=0", "--salt=-", f"--uuid={number}", data, theirs)
    root = text.split("Root hash:")[1].split()[0]
    parameters = {"verity_format": 0, "hash_device": str(device), "uuid": str(number), "overwrite": True}
    assert hashlane.tree_digest(data, "dmverity", **parameters) == root
    assert device.read_bytes() == theirs.read_bytes()
    with pytest.raises(OSError, match="is a file to hash") as content:
        hashlane.tree_digest(data, "dmverity", hash_device=data, overwrite=True)
    assert content.value.filename == str(data)
    with pytest.raises(ValueError, match="uuid: badly formed"):
        hashlane.tree_digest(data, "dmverity", hash_device=device, uuid="1")
    with pytest.raises(ValueError, match="git has no hash device"):
        hashlane.tree_digest(data, "git", hash_device=tmp_path / "absent")
    data.write_bytes(b"short")
    with pytest.raises(OSError, match="fewer than 4096 bytes"):
        hashlane.tree_digest(data, "dmverity", hash_device=tmp_path / "absent")
    assert sorted(os.listdir(tmp_path)) == ["data", "device", "theirs"]


@pytest.mark.parametrize("length", [0, 1, 5000, 600_000])
def test_written_trees_of_fsverity(tmp_path: Path, length: int) -> None:
    require("fsverity", "fsverity")
    data, tree, descriptor = tmp_path / "data", tmp_path / "tree", tmp_path / "descriptor"
    data.write_bytes(os.urandom(length))
    files = (f"--out-merkle-tree={tmp_path / 'a'}", f"--out-descriptor={tmp_path / 'b'}")
    for name, options, parameters in [
        ("fsverity", (), {}),
        ("fsverity-sha512", ("--hash-alg=sha512", "--salt=00ff"), {"salt": b"\0\xff"}),
    ]:
        expected = run("fsverity", "digest", *options, *files, data).split()[0]
        outputs = {"out_merkle_tree": tree, "out_descriptor": descriptor, "overwrite": True}
        assert hashlane.tree_digest(data, name, **outputs, **parameters) == expected
        assert tree.read_bytes() == (tmp_path / "a").read_bytes()
        assert descriptor.read_bytes() == (tmp_path / "b").read_bytes()


def test_packages_and_their_signature_files(tmp_path: Path) -> None:
    require("apksigner", "apksigner")
    key = ("-storepass", "password", "-keypass", "password", "-alias", "a", "-keyalg", "EC", "-dname", "CN=a")
    run("keytool", "-genkeypair", "-keystore", tmp_path / "key", *key)
    with zipfile.ZipFile(tmp_path / "unsigned", "w", zipfile.ZIP_STORED) as content:
        content.writestr("data", os.urandom(600_000))
    package, idsig, tree = tmp_path / "a.apk", tmp_path / "a.apk.idsig", tmp_path / "tree"
    options = ("--min-sdk-version=30", "--v4-signing-enabled=true", "--ks-pass=pass:password")
    run("apksigner", "sign", *options, "--ks", tmp_path / "key", "--out", package, tmp_path / "unsigned")
    root = hashlane.tree_digest(package, "apk-idsig", out_merkle_tree=tree)
    signed = idsig.read_bytes()
    assert signed.endswith(tree.read_bytes())
    report = hashlane.idsig_check(package, idsig)
    assert report.is_right
    assert (report.root_hash, report.blocks) == (root, -(-package.stat().st_size // 4096))

    idsig.write_bytes(signed[: -len(tree.read_bytes()) - 4])
    assert hashlane.idsig_check(package, str(idsig), threads=1).is_right
    with package.open("r+b") as stream:
        stream.seek(4096 * 7)
        stream.write(b"damage")
    without = hashlane.idsig_check(package, idsig)
    assert (without.is_right, without.has_root_hash, without.damaged) == (False, False, 0)
    idsig.write_bytes(signed)
    damaged = hashlane.idsig_check(package, idsig)
    assert (damaged.is_right, damaged.damaged_ranges) == (False, (range(7, 8),))
    with pytest.raises(OSError, match="only 2 is known") as unusable:
        hashlane.idsig_check(package, tmp_path / "unsigned")
    assert unusable.value.filename == str(tmp_path / "unsigned")


def test_files_that_are_left_out_of_folders(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "build").mkdir()
    (folder / "a").write_bytes(b"a")
    (folder / "sub" / "b").write_bytes(b"b")
    (folder / "sub" / "link").symlink_to("b")
    (folder / "build" / "x.TMP").write_bytes(b"x")
    assert hashlane.tree_digest(folder, "cid", exclude=["link", "/build"]) == FOLDER_CID
    assert hashlane.tree_check(folder, "cid", FOLDER_CID, exclude=("LINK", "*.tmp", "build"))
    with pytest.raises(OSError, match="symbolic link"):
        hashlane.tree_digest(folder, "cid", exclude=["build"])
    with pytest.raises(ValueError, match="exclude: "):
        hashlane.tree_digest(folder, "cid", exclude=["[a"])
    with pytest.raises(TypeError):
        hashlane.tree_digest(folder, "cid", exclude="link")
    with pytest.raises(ValueError, match="no choice of files"):
        hashlane.tree_digest(folder / "a", "fsverity", exclude=["link"])


def test_unusable_hash_devices(file: Path, tmp_path: Path) -> None:
    device = tmp_path / "device"
    device.write_bytes(bytes(8192))
    with pytest.raises(OSError, match="no superblock") as unusable:
        hashlane.verity_check(file, device)
    assert unusable.value.filename == str(device)
    device.unlink()
    with pytest.raises(FileNotFoundError) as absent:
        hashlane.verity_check(file, device)
    assert absent.value.filename == str(device)


def test_devices_that_need_a_root_hash(tmp_path: Path) -> None:
    require("veritysetup", "cryptsetup-bin")
    data, device = tmp_path / "data", tmp_path / "device"
    data.write_bytes(b"a" * 4096)
    root = run("veritysetup", "format", "--salt=-", data, device).split("Root hash:")[1].split()[0]
    assert root == hashlib.sha256(b"a" * 4096).hexdigest()
    with pytest.raises(ValueError, match="use a root hash"):
        hashlane.verity_check(data, device)
    with pytest.raises(ValueError, match="the root hash has 1 bytes"):
        hashlane.verity_check(data, device, "00")
    with pytest.raises(ValueError, match="root_hash: non-hexadecimal"):
        hashlane.verity_check(data, device, "0x00")
    assert hashlane.verity_check(data, device, bytes.fromhex(root)).is_right
    data.write_bytes(b"b" * 4096)
    assert not hashlane.verity_check(data, device, root).is_right


def test_errors(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unsupported tree hash sha256"):
        hashlane.tree_digest(file, "sha256")
    with pytest.raises(ValueError, match="a block of 1000 bytes"):
        hashlane.tree_digest(file, "fsverity", block_size=1000)
    with pytest.raises(ValueError, match="git has no salt"):
        hashlane.tree_digest(file, "git", salt=b"")
    with pytest.raises(ValueError, match="fsverity has no choice of a hash function"):
        hashlane.tree_digest(file, "fsverity", hash_name="sha512")
    with pytest.raises(ValueError, match="dm-verity has no md5"):
        hashlane.tree_digest(file, "dmverity", hash_name="md5")
    with pytest.raises(ValueError, match="unsupported hash type sha"):
        hashlane.tree_digest(file, "dmverity", hash_name="sha")
    with pytest.raises(ValueError, match="no format 2"):
        hashlane.tree_digest(file, "dmverity", verity_format=2)
    with pytest.raises(FileNotFoundError) as absent:
        hashlane.tree_digest(tmp_path / "absent", "git")
    assert absent.value.filename == str(tmp_path / "absent")
    with pytest.raises(OSError, match="fewer than 4096 bytes"):
        hashlane.tree_digest(file, "dmverity")
    stop = threading.Event()
    stop.set()
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(1 << 36)
    with pytest.raises(hashlane.Cancelled):
        hashlane.tree_digest(large, "s3-etag", part_size=5 << 30, cancel=stop)
