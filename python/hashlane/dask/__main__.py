"""The command ``python -m hashlane.dask``."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import getpass
import logging
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import dask.config
from distributed import Client, LocalCluster

from hashlane.dask import Options, Recovered, Row, Summary, check_many, recover_sharded, sum_many, verify_many

if TYPE_CHECKING:
    from hashlane._progress import Progress

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
STATUSES = "Exit status: 0 if everything is present and correct, 1 if not, 2 for errors."
RECOVER_STATUSES = (
    "Exit status: 0 if one string fits, 1 if none, 3 if several, 2 for errors and if parts could not be searched."
)
MAX_SHOWN = 100
"""Faults that are printed. The report has all."""


def _age(text: str) -> datetime.timedelta:
    match = re.fullmatch(r"(\d{1,6})([smhdw])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text}: not a duration, for example 30d")
    return datetime.timedelta(**{UNITS[match[2]]: int(match[1])})


def _volume(text: str) -> tuple[str, str]:
    folder, separator, resource = text.rpartition("=")
    if not separator or not folder or not resource:
        raise argparse.ArgumentTypeError(f"{text}: expected FOLDER=RESOURCE, for example /archive/a=vol:A")
    return folder, resource


def _parser() -> argparse.ArgumentParser:
    cluster = argparse.ArgumentParser(add_help=False)
    add = cluster.add_argument
    add("--scheduler", metavar="ADDRESS", help="address of the scheduler, by default a cluster on this machine")
    add("--threads", metavar="N", type=int, default=1, help="threads of a task, by default 1")
    add(
        "--retries",
        metavar="N",
        type=int,
        default=3,
        help="further attempts after an error of the system, by default 3",
    )
    add("--timeout", metavar="S", type=float, default=3600, help="seconds that a task may take, by default 3600")
    report = argparse.ArgumentParser(add_help=False)
    add = report.add_argument
    add(
        "--where",
        metavar="FOLDER=RESOURCE",
        type=_volume,
        action="append",
        help="resource of the workers with a volume",
    )
    add("--manifest", metavar="FOLDER", default="report", help="folder of the report, by default report")
    add("--resume", action="store_true", help="read only what the report lacks, what was wrong, and files that changed")
    add(
        "--max-age",
        metavar="AGE",
        type=_age,
        help="with --resume, age from which results are checked again, such as 30d",
    )
    add("--task-bytes", metavar="N", type=int, default=1 << 30, help="bytes of a task, by default 1 GiB")
    add("--parquet", action="store_true", help="write the report in Parquet (needs pyarrow)")
    parser = argparse.ArgumentParser(
        prog="python -m hashlane.dask", description="Verify archives and recover strings on a cluster of Dask."
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, epilog=STATUSES, parents=[cluster, report])

    verify = command("verify", "Verify the content of torrents.")
    verify.add_argument("torrents", metavar="TORRENT", nargs="+")
    verify.add_argument("--root", metavar="FOLDER", required=True, help="folder or URL that holds the content")
    sums = command("sum", "Compute the digests of files.")
    sums.add_argument("files", metavar="FILE", nargs="+", help="paths, globs or URLs")
    sums.add_argument("--algorithm", metavar="NAME", default="sha256", help="algorithm, by default sha256")
    check = command("check", "Compare files with the digests in a file.")
    check.add_argument("sums", metavar="SUMS", help="file in the format of sha256sum or of BSD")
    check.add_argument("--root", metavar="FOLDER", help="folder of relative paths, by default that of SUMS")
    check.add_argument("--algorithm", metavar="NAME", help="algorithm, by default that of the lengths of the digests")
    text = "Recover a damaged address or key. Makes one search: `hashlane recover` finds which damage is likely."
    recover = commands.add_parser("recover", help=text, description=text, epilog=RECOVER_STATUSES, parents=[cluster])
    add = recover.add_argument
    add(
        "text",
        metavar="STRING",
        help="damaged string, with ? for an unknown character; - reads it from the standard input",
    )
    add("--kind", metavar="KIND", action="append", help="kind of string, as for `hashlane recover`; repeatable")
    add("--case", choices=("auto", "lost", "kept"), default="auto", help="state of the letter case")
    add("--glyphs", action="store_true", help="allow characters that look alike")
    add("--errors", metavar="N", type=int, default=0, help="number of errors at unknown positions, 0 to 2")
    add("--known", metavar="FILE", type=Path, help="file of known addresses, one per line")
    add("--pubkey-hash", metavar="HEX", type=bytes.fromhex, help="hash in the address, in hexadecimal")
    add("--prefix", metavar="TEXT", default="", help="first characters of the original string")
    add("--shard-seconds", metavar="S", type=float, default=30, help="expected seconds of a task, by default 30")
    return parser


def _progress(unit: str) -> Progress | None:
    """Returns a progress bar, if the output is a terminal and tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    bar: Progress = tqdm(unit=unit, unit_scale=True, disable=None)
    return bar


def _run(arguments: argparse.Namespace, client: Client) -> Summary:
    options: Options = {
        "client": client,
        "where": dict(arguments.where) if arguments.where else None,
        "manifest": arguments.manifest,
        "resume": arguments.resume,
        "max_age": arguments.max_age,
        "task_bytes": arguments.task_bytes,
        "threads": arguments.threads,
        "retries": arguments.retries,
        "timeout": arguments.timeout,
        "parquet": arguments.parquet,
        "progress": _progress("B"),
    }
    if arguments.command == "verify":
        return verify_many(arguments.torrents, arguments.root, **options)
    if arguments.command == "sum":
        return sum_many(arguments.files, arguments.algorithm, **options)
    return check_many(arguments.sums, arguments.root, arguments.algorithm, **options)


def _recover(arguments: argparse.Namespace, client: Client) -> Recovered:
    known = None
    if arguments.known is not None:
        lines = map(str.strip, arguments.known.read_text().splitlines())
        known = [line for line in lines if line and not line.startswith("#")]
    text = arguments.text
    if text == "-":
        text = getpass.getpass("String, which is not shown: ") if sys.stdin.isatty() else sys.stdin.readline()
    names = ("case", "glyphs", "errors", "pubkey_hash", "prefix", "shard_seconds", "threads", "retries", "timeout")
    options = {name: getattr(arguments, name) for name in names}
    return recover_sharded(
        text, kinds=arguments.kind, known=known, client=client, progress=_progress(" parts"), **options
    )


def _print_recovered(recovered: Recovered) -> int:
    """Prints hits, and returns the exit status."""
    for hit in recovered.hits:
        print(f"{hit.text}  {hit.kind}, {hit.edits} edits")
    for problem in recovered.problems[:MAX_SHOWN]:
        print(f"hashlane.dask: {problem}", file=sys.stderr)
    end = "ended at the first hit" if recovered.is_unique else "complete" if recovered.is_complete else "NOT complete"
    print(f"{len(recovered.hits)} hits in {recovered.seconds:.1f} s, {recovered.shards} parts, {end}", file=sys.stderr)
    if not (recovered.is_complete or recovered.is_unique):
        return 2
    return {0: 1, 1: 0}.get(len(recovered.hits), 3)


def _lines(faults: list[Row]) -> Iterator[str]:
    """Returns a line for each fault, and one for adjacent pieces with the same fault."""
    merged: list[Row] = []
    for row in faults:
        last = merged[-1] if merged else None
        if last is not None and _is_next(last, row):
            merged[-1] = {**last, "end_piece": row["end_piece"]}
        else:
            merged.append(row)
    for row in merged:
        pieces = ""
        if row["first_piece"] is not None:
            first, last_piece = row["first_piece"], row["end_piece"] - 1
            pieces = f" piece {first}" if first == last_piece else f" pieces {first} to {last_piece}"
        yield f"{row['verdict']:10} {_place(row)}{pieces}{': ' + row['error'] if row['error'] else ''}"


def _is_next(last: Row, row: Row) -> bool:
    """Whether a row is about the pieces after those of another row, and the same fault."""
    is_adjacent = last["end_piece"] is not None and last["end_piece"] == row["first_piece"]
    what = [(one["verdict"], one["error"], _place(one)) for one in (last, row)]
    return is_adjacent and what[0] == what[1]


def _place(row: Row) -> str:
    """Returns the file of a row, after the folder or file of its torrent."""
    if row["kind"] != "verify":
        return row["file"] or ""
    _, _, content = row["unit"].split(" ", 2)
    return f"{content}: {row['file']}" if row["file"] else content


def _print(summary: Summary) -> int:
    """Prints faults and counts, and returns the exit status."""
    faults = list(_lines(summary.faults))
    for line in faults[:MAX_SHOWN]:
        print(line)
    if len(faults) > MAX_SHOWN:
        print(f"... and {len(faults) - MAX_SHOWN} more in {summary.manifest}")
    for note in summary.notes:
        print(f"hashlane.dask: {note}", file=sys.stderr)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(summary.counts.items()))
    units = f"{summary.checked} units read in {summary.seconds:.1f} s, {summary.skipped} known before"
    if summary.wanted == 0:
        print("hashlane.dask: there was nothing to do", file=sys.stderr)
    else:
        print(f"{summary.proven} of {summary.wanted} proven: {counts}; {units}")
    return 0 if summary.is_ok else 1


def main(argv: list[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        with contextlib.ExitStack() as stack:
            # The profile that workers take of themselves a hundred times per second costs as much as a tenth of the hashing.
            stack.enter_context(dask.config.set({"distributed.worker.profile.enabled": False}))
            cluster = arguments.scheduler or stack.enter_context(_workers_here())
            client = stack.enter_context(Client(cluster))
            print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
            if arguments.command == "recover":
                return _print_recovered(_recover(arguments, client))
            return _print(_run(arguments, client))
    except KeyboardInterrupt:
        print("hashlane.dask: interrupted; --resume continues", file=sys.stderr)
        return 128 + signal.SIGINT
    except (OSError, ValueError, TypeError) as error:
        print(f"hashlane.dask: {error}", file=sys.stderr)
        return 2


def _workers_here() -> LocalCluster:
    """Returns a cluster on this machine. Its processes leave Ctrl-C to this one, which ends them."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return LocalCluster(threads_per_worker=1, silence_logs=logging.CRITICAL)
    finally:
        signal.signal(signal.SIGINT, handler)


if __name__ == "__main__":
    sys.exit(main())
