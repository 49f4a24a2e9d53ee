"""Measure the search for Base58Check strings, and write RECOVER.md."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from harness.goal import Goal, at_least, at_most, goal_section
from harness.tables import page, table

HERE = Path(__file__).parent
# Seconds of each search with one thread.
SEARCH_GOALS = (0.52, 4.2, 8.2)
# Million double hashes per second from end to end; 15.5 for other kernels.
KERNEL_GOALS = {
    "sha256d_x16_avx512": 35.0,
    "sha256d_x8_avx2": 13.0,
}


def short(text: str) -> str:
    """Return the beginning and the end of a text."""
    return f"{text[:6]}...{text[-4:]}"


def goals(found: dict[str, Any]) -> Iterator[Goal]:
    """Return the goals."""
    for search, limit in zip(found["searches"], SEARCH_GOALS, strict=True):
        one, two = median(search["one_thread"]), median(search["two_threads"])
        name = short(search["text"])
        yield at_most(f"{name}, 1 thread", one, limit, unit=" s")
        yield at_least(f"{name}, 2 threads against 1", one / two, 1.9)
    for kernel in found["end_to_end"]:
        text = f"{kernel['name']} end to end, M/s"
        yield at_least(text, median(kernel["values"]), KERNEL_GOALS.get(kernel["name"], 15.5))
    rates = {rate["name"]: median(rate["values"]) for rate in found["rates"]}
    openssl = max(rate for name, rate in rates.items() if name.startswith("OpenSSL"))
    text = "best kernel against OpenSSL's faster one-shot"
    yield at_least(text, max(rates.values()) / openssl, 4.0)


def rates(head: str, found: list[dict]) -> Iterator[str]:
    """Return a table of rates."""
    cells = ((rate["name"], f"{median(rate['values']):.2f}") for rate in found)
    return table((head, "million double hashes per second"), cells)


def searches(found: list[dict]) -> Iterator[str]:
    """Return the table of the searches."""
    rows = []
    for search in found:
        one, two = median(search["one_thread"]), median(search["two_threads"])
        name = f"`{short(search['text'])}` ({search['kind']})"
        rows.append([name, str(search["hashes"]), f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}"])
    return table(("search", "hashes", "1 thread, s", "2 threads, s", "ratio"), rows)


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    command = [options.program.resolve(), "recover"]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    rounds = len(found["rates"][0]["values"])
    text = page(
        "The search for Base58Check strings",
        "bench-recover",
        f"Figures are medians of {rounds} rounds in turns.",
        rates("kernel, messages of 21 bytes", found["rates"]),
        searches(found["searches"]),
        rates(f"end to end, `{short(found['searches'][0]['text'])}`", found["end_to_end"]),
        goal_section(list(goals(found))),
    )
    (options.out / "RECOVER.md").write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
