"""Compare the hasher of gix-hash with that of the patch in docs/guides/adopting.md.

    python3 bench/gix_hash.py [--out bench/gix-hash.md]

The package of gix-hash on crates.io contains no benchmark, so gix-hash/main.rs measures. The script
patches a copy of the package, and builds both into one program, which gives them turns.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.samples import quartiles
from harness.tables import page, table

HERE = Path(__file__).parent
ROOT = HERE.parent
WORK = ROOT / "target" / "gix-hash"
VERSION = "0.28.1"
MANIFEST = """\
[workspace]

[package]
name = "gix-hash-bench"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "gix-hash-bench"
path = "{main}"

[dependencies]
original = {{ package = "gix-hash", version = "={version}", features = ["sha1"] }}
rustix = {{ version = "1", default-features = false, features = ["time", "std"] }}
"""
PATCHED = 'patched = { package = "gix-hash", path = "patched", features = ["sha1"] }\n'
# The patch of docs/guides/adopting.md: a file, a text that it contains once, and another text.
PATCH = (
    ("src/hasher.rs", "Sha1(sha1dc::Hasher)", "Sha1(hashlane_sha::sha1_checked::Sha1Checked)"),
    (
        "src/hasher.rs",
        "sha1dc::Hasher::new()",
        "hashlane_sha::sha1_checked::Sha1Checked::new()",
    ),
    (
        "src/hasher.rs",
        "Hasher::Sha1(sha1) => sha1.update(bytes),",
        "Hasher::Sha1(sha1) => { sha1.update(bytes); }",
    ),
    ("Cargo.toml", "dep:sha1dc", "dep:hashlane-sha"),
    ("Cargo.toml", "[dependencies.sha1dc]", "[dependencies.hashlane-sha]"),
)


def build() -> Path:
    """Build the program with both versions, and return its path."""
    WORK.mkdir(parents=True, exist_ok=True)
    manifest = WORK / "Cargo.toml"
    text = MANIFEST.format(main=HERE / "gix-hash" / "main.rs", version=VERSION)
    manifest.write_text(text)
    command = ["cargo", "metadata", "--format-version=1", "--manifest-path", str(manifest)]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    packages = {one["name"]: Path(one["manifest_path"]) for one in found["packages"]}
    copy = WORK / "patched"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(packages["gix-hash"].parent, copy)
    for name, old, new in PATCH:
        replace(copy / name, old, new)
    replace_version(copy / "Cargo.toml")
    manifest.write_text(text + PATCHED)
    subprocess.run(["cargo", "build", "--release", "--manifest-path", str(manifest)], check=True)
    return WORK / "target" / "release" / "gix-hash-bench"


def replace(path: Path, old: str, new: str) -> None:
    """Replace a text that a file must contain once."""
    text = path.read_text()
    if text.count(old) != 1:
        message = f"{path.name}: {old!r} occurs {text.count(old)} times, and not once"
        raise SystemExit(message)
    path.write_text(text.replace(old, new))


def replace_version(manifest: Path) -> None:
    """Let the dependency on hashlane-sha name the folder of this tree instead of a version."""
    before, _, after = manifest.read_text().partition("[dependencies.hashlane-sha]\n")
    _, *rest = after.splitlines(keepends=True)
    folder = f'path = "{ROOT / "crates" / "sha"}"\n'
    manifest.write_text("".join([before, "[dependencies.hashlane-sha]\n", folder, *rest]))


def rows(lines: list[str]) -> Iterator[list[str]]:
    """Return a row for each length."""
    for line in lines:
        found = json.loads(line)
        rates = (
            f"{1e3 * found['len'] / quartiles(found[key]).median:.0f}"
            for key in ("first", "second")
        )
        pairs = zip(found["first"], found["second"], strict=True)
        factor = quartiles([old / new for old, new in pairs])
        yield [f"{found['len']:,}", *rates, f"{factor.median:.2f}", factor.spread]


def main() -> None:
    """Build, measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "gix-hash.md")
    options = parser.parse_args()
    done = subprocess.run([build()], stdout=subprocess.PIPE, text=True, check=True)
    text = page(
        "The hasher of gitoxide",
        "bench-gix-hash",
        f"`gix_hash::Hasher` of gix-hash {VERSION}, which detects collision attacks by the crate"
        " sha1dc, and with the patch of [adopting.md](../docs/guides/adopting.md#gitoxide): one"
        " message after another, 41 rounds in turns, CPU time. Both are in one program. Figures"
        " are medians, and the factor is the median of the factors of the rounds. The package on"
        " crates.io contains no benchmark.",
        table(
            ("bytes per message", "before, MB/s", "after, MB/s", "factor", "middle half"),
            rows(done.stdout.splitlines()),
        ),
    )
    options.out.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
