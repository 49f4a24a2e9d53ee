"""Downloads a repository of Hugging Face from a server on this machine, and verifies it.

    huggingface.py FOLDER

Makes FOLDER/cache, FOLDER/shared and FOLDER/local with `hf`'s own code, FOLDER/listing.json, and copies of these folders with damage,
whose names end with `-damaged`. The large file of FOLDER/shared is a shared blob. Prints the exit status of `hf cache verify` for the
six folders, as JSON.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"layers": 2}',
    "model.safetensors": bytes(range(256)) * 1000,
    "nested/empty.txt": b"",
    "nested/vocabulary.txt": b"a\nb\n",
}
LARGE = {"model.safetensors"}


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def entry(path: str) -> dict:
    content = FILES[path]
    found = {"type": "file", "path": path, "size": len(content), "oid": git_blob(content)}
    if path in LARGE:
        found["oid"] = git_blob(b"pointer")
        found["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return found


def tag(path: str) -> str:
    found = entry(path)
    return found["lfs"]["oid"] if "lfs" in found else found["oid"]


LISTING = [{"type": "directory", "path": "nested", "size": 0, "oid": git_blob(b"tree")}, *map(entry, FILES)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.startswith("/some/model/resolve/"):
            name = path.split("/", 5)[5]
            content = FILES.get(name)
            if content is None:
                return self.answer(404, b"", {"X-Error-Code": "EntryNotFound"})
            kind = {"X-Linked-Etag": f'"{tag(name)}"', "X-Linked-Size": str(len(content))} if name in LARGE else {}
            return self.answer(200, content, {"ETag": f'"{tag(name)}"', "X-Repo-Commit": COMMIT, **kind})
        if path.startswith("/api/models/some/model/tree/"):
            return self.answer_json(LISTING)
        if path.startswith("/api/models/some/model"):
            siblings = [{"rfilename": name} for name in FILES]
            return self.answer_json({"id": "some/model", "sha": COMMIT, "siblings": siblings})
        return self.answer(404, b"", {})

    def answer_json(self, value):
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def answer(self, status, content, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


def main() -> None:
    folder = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(folder / "home"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils._shared_blobs import publish_blob_to_shared_store

    snapshot_download("some/model", cache_dir=folder / "cache")
    snapshot_download("some/model", local_dir=folder / "local")
    shutil.copytree(folder / "cache", folder / "shared", symlinks=True)
    large = folder / "shared/models--some--model/blobs" / tag("model.safetensors")
    size = large.stat().st_size
    # A download by Xet, which needs a server of its own, ends with this call.
    assert publish_blob_to_shared_store(
        blob_path=str(large), xet_hash="f5" * 32, cache_dir=folder / "shared", expected_size=size
    )
    assert large.is_symlink()
    (folder / "listing.json").write_text(json.dumps(LISTING))
    for name in ("cache", "shared", "local"):
        shutil.copytree(folder / name, folder / f"{name}-damaged", symlinks=True)
    for name in ("model.safetensors", "config.json"):
        for cache in ("cache-damaged", "shared-damaged"):
            damage(folder / cache / "models--some--model/blobs" / tag(name))
        damage(folder / "local-damaged" / name)

    def verify(*options: str) -> int:
        program = Path(sys.executable).with_name("hf")
        ended = subprocess.run([program, "cache", "verify", "some/model", *options], capture_output=True, text=True)
        print(options, ended.stdout, ended.stderr, file=sys.stderr)
        return ended.returncode

    caches = {
        name: verify("--cache-dir", str(folder / name))
        for name in ("cache", "cache-damaged", "shared", "shared-damaged")
    }
    downloads = {name: verify("--local-dir", str(folder / name)) for name in ("local", "local-damaged")}
    print(json.dumps(caches | downloads))


if __name__ == "__main__":
    main()
