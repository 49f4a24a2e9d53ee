#!/usr/bin/env python3
"""Measures the page with 5,000 torrents in Chromium, by its tracing.

A server in this program sends the events, so that each has exactly 20 changed torrents. The files
of the page are served as they are in the tree. Writes bench/PAGE.md, or with --serve only serves
the page, for a look at it.
"""

import argparse
import base64
import bisect
import itertools
import json
import os
import pathlib
import queue
import random
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "crates/web/src/page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
CHANGED = 20

# Seconds between two events. The program sends at most two per second.
INTERVAL = 0.6

# The names of marks in traces: a change, and the first frame with rows of torrents.
MARK = "bench"
ROWS = "rows"

# Marks the first frame with rows. A frame is painted before the timers that its callbacks start.
WATCH = f"""addEventListener('DOMContentLoaded', () => {{
    const body = document.querySelector('#torrents tbody');
    if (body === null) return;
    new MutationObserver((_, observer) => {{
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => performance.mark('{ROWS}'), 0));
    }}).observe(body, {{ childList: true }});
}});"""

# The port of chromedriver.
PORT = 9517

WORDS = ["alps", "concert", "lectures", "maps", "medieval", "radio", "recordings", "telescope"]
ACTIVITIES = ["serving", "downloading", "paused", "verifying", "failed", "absent"]


def torrent(number, rng):
    """Returns a torrent with all fields of the API."""
    total = rng.randrange(1 << 20, 1 << 36)
    activity = rng.choices(ACTIVITIES, [80, 8, 6, 2, 2, 2])[0]
    is_download = activity == "downloading"
    done = total if activity in ("serving", "paused") else rng.randrange(total)
    name = " ".join(rng.sample(WORDS, 3)).capitalize() + f" {number}"
    if number % 50 == 7:
        name += " with a long name that does not fit into its column" * 3
    fails = rng.random() < 0.05
    tracker = f"tracker-{number % 7}.example"
    return {
        "number": number,
        "torrent": f"{name}.torrent",
        "info_hash": f"{number:040x}",
        "info_hash_v1": f"{number:040x}",
        "info_hash_v2": None,
        "name": name,
        "content": f"/srv/{'media' if number % 3 else 'archive'}/{name}",
        "folder": f"/srv/{'media' if number % 3 else 'archive'}",
        "move_to": None,
        "activity": activity,
        "download": is_download,
        "complete": done == total,
        "error": "No such file or directory" if activity in ("failed", "absent") else None,
        "labels": [["linux"], ["music", "live"], []][number % 3],
        "category": None,
        "paused": activity == "paused",
        "forced": False,
        "queue_position": number,
        "sequential": False,
        "private": False,
        "max_down": None,
        "max_up": None,
        "serve": True,
        "seed_ratio": None,
        "seed_seconds": None,
        "idle_seconds": None,
        "added_at": 1_790_000_000 + number,
        "completed_at": None,
        "active_at": None,
        "downloading_seconds": 0,
        "serving_seconds": 0,
        "files": 3,
        "piece_length": 1 << 20,
        "pieces": total >> 20,
        "trusted_pieces": 0,
        "total_bytes": total,
        "verified_bytes": total // 3 if activity == "verifying" else 0,
        "wanted_bytes": total,
        "done_bytes": done,
        "downloaded_bytes": done,
        "uploaded_bytes": rng.randrange(total),
        "wasted_bytes": 0,
        "down_bytes_per_second": rng.randrange(1 << 22) if is_download else 0,
        "up_bytes_per_second": rng.randrange(1 << 20) if number % 5 == 0 else 0,
        "peers": rng.randrange(40) if number % 2 else 0,
        "seeds": 0,
        "seconds_left": 3600.0 if is_download else None,
        "announces": [{"tracker": tracker, "error": "unregistered torrent" if fails else None}],
    }


PEER = {
    "address": "192.0.2.1:6881",
    "client": "Example 1.0",
    "progress": 0.5,
    "down_bytes_per_second": 1000,
    "up_bytes_per_second": 0,
    "downloaded_bytes": 5000,
    "uploaded_bytes": 0,
    "encrypted": True,
    "utp": True,
    "outgoing": True,
    "web_seed": False,
}

TRACKER = {
    "url": "https://tracker.example/announce",
    "tier": 0,
    "state": "failed",
    "message": "unregistered torrent",
    "failures": 3,
    "seeds": None,
    "leeches": 4,
    "next_seconds": 900,
}

# Answers that do not depend on the torrents.
ANSWERS = {
    "session": {
        "read": True,
        "change": True,
        "csrf_token": "x",
        "token_login": True,
        "password_login": False,
    },
    "statistics": {
        "all_downloaded_bytes": 5 << 40,
        "all_uploaded_bytes": 7 << 40,
        "listening": ["0.0.0.0:6881"],
        "incoming_connections": True,
        "dht_nodes": 312,
    },
    "config": {"folders": ["/srv/media"]},
    "free-space": {"free_bytes": 3 << 40, "total_bytes": 8 << 40},
    "trackers": {"total": 1, "trackers": [TRACKER]},
    "files": {
        "total": 3,
        "changeable": True,
        "files": [
            {
                "number": i,
                "path": path,
                "length_bytes": 5 << 20,
                "done_bytes": i << 20,
                "priority": "normal",
                "wrong_pieces": 2 - i,
            }
            for i, path in enumerate(["disc 1/one.flac", "disc 1/two.flac", "notes.txt"])
        ],
    },
}


class State:
    """The torrents, and the streams of the pages that are open."""

    def __init__(self, count):
        """Makes the torrents, the same ones each time."""
        self.rng = random.Random(1)  # noqa: S311
        self.torrents = [torrent(number, self.rng) for number in range(count)]
        self.streams = []
        self.ids = itertools.count(1)
        self.full = json.dumps(self.first(None))

    def detail(self, number):
        """Returns a torrent with its pieces, rates and peers."""
        one = self.torrents[number]
        size = (one["pieces"] + 7) // 8
        present = size * one["done_bytes"] // one["wanted_bytes"]
        have = bytes([255] * present + [0] * (size - present))
        wrong = bytearray(size)
        if not one["complete"] and size > 10:
            wrong[-2] = 0x5A
        rates = [self.rng.randrange(1 << 22) for _ in range(60)]
        return one | {
            "have": base64.b64encode(have).decode(),
            "wrong": base64.b64encode(wrong).decode(),
            "checked": "",
            "rate_history": {"interval_seconds": 2, "down": rates, "up": rates[::-1]},
            "peer_list": [PEER],
            "comment": None,
            "created_at": None,
            "created_by": None,
        }

    def first(self, number):
        """Returns the first event of a stream."""
        event = {"full": True, "changed": self.torrents, "removed": [], "accepts_torrents": True}
        event |= {"max_down": None, "max_up": None}
        if number is not None:
            event["detail"] = self.detail(number)
        return event

    def change(self):
        """Changes some torrents, and sends the event to all streams."""
        changed = []
        for one in self.rng.sample(self.torrents, min(CHANGED, len(self.torrents))):
            rate = self.rng.randrange(1 << 22)
            fields = {"up_bytes_per_second": rate, "peers": self.rng.randrange(50)}
            fields["uploaded_bytes"] = one["uploaded_bytes"] + rate
            one.update(fields)
            changed.append({"number": one["number"], "info_hash": one["info_hash"], **fields})
        for stream in list(self.streams):
            stream.put({"full": False, "changed": changed, "removed": []})


class Handler(BaseHTTPRequestHandler):
    """Serves the page and the part of the API that it reads."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Prints nothing."""

    def answer(self, status, kind, body):
        """Sends an answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def json(self, value, status=200):
        """Sends a JSON value."""
        self.answer(status, "application/json", json.dumps(value).encode())

    def do_GET(self):
        """Answers a request of the page."""
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        name = url.path.rpartition("/")[2] or "page.html"
        file = self.server.page / name
        if url.path == "/api/v1/events":
            self.stream(int(query["torrent"]) if "torrent" in query else None)
        elif url.path.startswith("/api/v1/") and name in ANSWERS:
            self.json(ANSWERS[name])
        elif file.suffix in TYPES and file.exists():
            self.answer(200, TYPES[file.suffix], file.read_bytes())
        else:
            self.answer(404, "text/plain", b"")

    def do_POST(self):
        """Accepts everything."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.json({"results": []})

    def stream(self, number):
        """Sends events until the page closes the stream."""
        state, events = self.server.state, queue.Queue()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        state.streams.append(events)
        try:
            event = state.full if number is None else json.dumps(state.first(number))
            while True:
                self.wfile.write(f"id: {next(state.ids)}\ndata: {event}\n\n".encode())
                event = json.dumps(events.get())
        except OSError:
            pass
        finally:
            state.streams.remove(events)
            self.close_connection = True


def serve(count, port=0, page=PAGE):
    """Starts the server on a thread."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.page = page
    server.state = State(count)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Browser:
    """Headless Chromium, controlled by chromedriver."""

    def __init__(self):
        """Starts the browser with tracing."""
        command = ["chromedriver", f"--port={PORT}"]
        quiet = subprocess.DEVNULL
        self.driver = subprocess.Popen(command, stdout=quiet, stderr=quiet)
        # Root cannot use the sandbox, and containers have little shared memory.
        args = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"]
        args.append("--window-size=1280,900")
        tracing = {"traceCategories": "devtools.timeline,blink.user_timing,loading"}
        options = {"args": args, "perfLoggingPrefs": tracing}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL"}}
        self.session = ""
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/status")
                break
            except OSError:
                time.sleep(0.1)
        found = self.send("session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"session/{found['sessionId']}/"
        watch = {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": WATCH}}
        self.send("goog/cdp/execute", watch)

    def send(self, path, body):
        """Sends a command, and returns its value."""
        url = f"http://127.0.0.1:{PORT}/{self.session}{path}"
        request = urllib.request.Request(url, json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return json.load(answer)["value"]

    def run(self, script):
        """Returns the result of a script."""
        return self.send("execute/sync", {"script": script, "args": []})

    def blank(self):
        """Leaves the page, and returns its trace, which chromedriver has then."""
        self.send("url", {"url": "about:blank"})
        lines = self.send("se/log", {"type": "performance"})
        messages = (json.loads(line["message"])["message"] for line in lines)
        traced = (one["params"] for one in messages if one["method"] == "Tracing.dataCollected")
        return list(traced)

    def close(self):
        """Ends the browser."""
        url = f"http://127.0.0.1:{PORT}/{self.session}".rstrip("/")
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE"))  # noqa: S310
        self.driver.terminate()


# Work of the page's main thread. A task has others inside, so only the outermost events count.
LOADING = {"EvaluateScript", "ParseHTML", "v8.compileModule", "v8.evaluateModule"}
COSTS = LOADING | {
    "EventDispatch",
    "FireAnimationFrame",
    "FunctionCall",
    "Layout",
    "Paint",
    "PrePaint",
    "RunMicrotasks",
    "TimerFire",
    "UpdateLayoutTree",
}


def costs(events, marks):
    """Returns the milliseconds of script, style and layout after each of these times.

    They are time of the thread: other programs do not count.
    """
    spans = sorted(
        (event["ts"], event.get("dur", 0), event.get("tdur", event.get("dur", 0)))
        for event in events
        if event.get("ph") == "X" and event["name"] in COSTS
    )
    totals, end = [0] * len(marks), 0
    for start, length, work in spans:
        mark = bisect.bisect(marks, start) - 1
        if mark >= 0 and start >= end:
            totals[mark] += work / 1000
            end = start + length
    return totals


def times(events, name):
    """Returns the times of the events of a name in microseconds, in their order."""
    return sorted(event["ts"] for event in events if event["name"] == name)


def opening(browser, url):
    """Opens the page anew, and returns the milliseconds until frames are painted.

    They are those of the first frame with content, and of the first one with torrents, each with
    the work of the page's thread until then.
    """
    browser.blank()
    browser.send("url", {"url": url})
    while not browser.run(f"return performance.getEntriesByName('{ROWS}').length > 0"):
        time.sleep(0.1)
    events = browser.blank()
    start = max(
        event["ts"]
        for event in events
        if event["name"] == "navigationStart" and event["args"]["data"]["documentLoaderURL"] == url
    )
    paint = next(time for time in times(events, "firstContentfulPaint") if time > start)
    rows = next(time for time in times(events, ROWS) if time > start)
    until_paint, until_rows, _ = costs(events, [start, paint, rows])
    return {
        "paint": (paint - start) / 1000,
        "paint work": until_paint,
        "rows": (rows - start) / 1000,
        "rows work": until_paint + until_rows,
    }


def measure(count, rounds, events):
    """Returns the figures of the page."""
    server = serve(count)
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    browser = Browser()
    try:
        openings = [opening(browser, url) for _ in range(rounds)]
        browser.send("url", {"url": url})
        while not browser.run("return document.querySelector('#torrents tbody tr') !== null"):
            time.sleep(INTERVAL)
        elements = browser.run("return document.querySelectorAll('*').length")
        browser.run("document.querySelector('#torrents tbody tr').click()")
        time.sleep(2)
        chosen = browser.run("return document.querySelectorAll('*').length")
        browser.run("history.back()")
        time.sleep(2)
        for _ in range(events):
            browser.run(f"performance.mark('{MARK}')")
            server.state.change()
            time.sleep(INTERVAL)
        traced = browser.blank()
        return {
            "elements": [elements, chosen],
            "event": costs(traced, times(traced, MARK)),
            **{name: [one[name] for one in openings] for name in openings[0]},
        }
    finally:
        browser.close()


def spread(values):
    """Returns the median, and the smallest and the largest value."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def report(found, options):
    """Returns the figures as a table."""
    cpus = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    cpu = next(line.split(":")[1].strip() for line in cpus if line.startswith("model name"))
    version = subprocess.run(["chromium", "--version"], capture_output=True, text=True, check=True)
    load = pathlib.Path("/proc/loadavg").read_text(encoding="utf-8").split()[0]
    without, with_pane = found["elements"]
    browser = version.stdout.split(" built")[0].strip()
    today = time.strftime("%Y-%m-%d")
    return f"""# The page with many torrents

`cargo xtask bench page` opens the page with {options.torrents:,} torrents in a window of 1280 x 900
pixels. Each event changes {CHANGED} of them. Medians, with the smallest and the largest of
{options.rounds} openings and {options.events} events, on {today}: {cpu},
{browser}, load of the machine {load} on {os.cpu_count()} cores. With a load above the number of
cores, the page waits for other programs; the work of its thread does not change much.

| figure | limit | measured |
|---|---|---|
| elements, without and with the pane | 1,500 | {without:,} and {with_pane:,} |
| script, style and layout of an event, in ms of the thread | 8 | {spread(found["event"])} |
| first paint (firstContentfulPaint), in ms | 500 | {spread(found["paint"])} |
| of that, work of the page's thread | | {spread(found["paint work"])} |
| first paint with torrents, in ms | | {spread(found["rows"])} |
| of that, work of the page's thread | | {spread(found["rows work"])} |
"""


def main():
    """Measures, or serves the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torrents", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=9, help="number of times to open the page")
    parser.add_argument("--events", type=int, default=30, help="number of events to measure")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/PAGE.md")
    parser.add_argument("--serve", type=int, metavar="PORT", help="only serve the page")
    options = parser.parse_args()
    if options.serve is not None:
        server = serve(options.torrents, options.serve)
        while True:
            time.sleep(0.5)
            server.state.change()
    text = report(measure(options.torrents, options.rounds, options.events), options)
    options.out.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
