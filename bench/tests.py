"""Tests of the reports: python3 bench/tests.py."""

import unittest
from pathlib import Path

from book import IMAGES, pictures
from harness.engine_charts import bar_chart, line_chart
from harness.engine_goals import engine_goals, floors
from harness.engine_report import engine_report
from harness.engine_samples import Group, Results, Row, ratio
from harness.goal import at_least, at_most, goal_table
from harness.report import Report
from harness.samples import quartiles
from harness.svg import ticks
from harness.tables import table
from pairs import Pair
from pairs import report as pairs_report

HERE = Path(__file__).parent
# The folders of the CPUs whose samples are recorded.
SHA = [HERE, *(path.parent for path in HERE.glob("*/sha.json"))]
TORRENTS = [HERE, *(path.parent for path in HERE.glob("*/results.json"))]


def row(name: str, *gb_per_s: float, kind: str = "kernel") -> Row:
    """Return a row of messages of 16 KiB."""
    return Row(name, kind, 16384, 32, list(gb_per_s))


class Statistics(unittest.TestCase):
    """Quartiles and ratios."""

    def test_quartiles_are_interpolated(self) -> None:
        """Between the samples, and with only one."""
        self.assertEqual(quartiles([4.0, 1.0, 2.0, 3.0]), (1.75, 2.5, 3.25))
        self.assertEqual(quartiles([7.0]), (7.0, 7.0, 7.0))

    def test_a_ratio_is_taken_round_by_round(self) -> None:
        """The machine slows down, and the ratio stays."""
        self.assertEqual(ratio(row("a", 8, 4, 2), row("b", 4, 2, 1)), (2, 2, 2))
        self.assertIsNone(ratio(row("a", 1), None))

    def test_the_fastest_way_counts(self) -> None:
        """Of a library that is called in several ways."""
        rows = [row("OpenSSL EVP_Digest", 2), row("OpenSSL SHA1_Update", 3), row("other", 9)]
        group = Group("SHA-1", rows)
        self.assertEqual(group.openssl.name, "OpenSSL SHA1_Update")
        self.assertEqual(group.openssl_one_shot.name, "OpenSSL EVP_Digest")


class Goals(unittest.TestCase):
    """Limits, at their edges."""

    def test_limits_are_inclusive(self) -> None:
        """On either side, and without a figure."""
        self.assertEqual([at_most("", x, 2).met for x in (1.9, 2, 2.1, None)], [1, 1, 0, None])
        self.assertEqual([at_least("", x, 2).met for x in (1.9, 2, 2.1, None)], [0, 1, 1, None])

    def test_a_missed_goal_is_marked(self) -> None:
        """In the last column."""
        lines = list(goal_table([at_most("a", 3, 2), at_least("b", None, 1)]))
        self.assertEqual(lines[2], "| a | at most 2.00 | 3.000 | **NOT met** |")
        self.assertEqual(lines[3], "| b | at least 1.00 | - | not measured |")

    def test_a_slow_kernel_is_below_its_floor(self) -> None:
        """So that the exit status is 1."""
        for rate, met in ((2.0, True), (0.1, False)):
            rows = [row("sha1_x1_portable", 1.0), row("sha1_x4_sse2", rate), row("hashlane", 2.0)]
            suite = {"algorithm": "SHA-1", "rows": [vars(one) for one in rows]}
            found = {goal.text: goal.met for goal in floors(Results({"sizes": [suite]}))}
            self.assertEqual(found["SHA-1 x4_sse2 / x1_portable"], met)

    def test_groups_that_take_no_turns_are_below_their_floor(self) -> None:
        """So that the exit status is 1."""
        for rate, met in ((1.6, True), (1.0, False)):
            rows = [vars(row("md5_x8_avx2", 1.0)), vars(row("md5_x16_avx2", rate))]
            found = list(floors(Results({"md5": [{"algorithm": "MD5", "rows": rows}]})))
            self.assertEqual([goal.met for goal in found], [met])

    def test_kernels_with_detection_are_compared_with_those_without(self) -> None:
        """Of the same backend and number of lanes, if there are several."""
        names = {"sha1_checked_x8_avx2": 3.6, "sha1_x8_avx2": 4.8, "sha1_checked_x1_portable": 0.1}
        names |= {"sha1_x1_portable": 1.0, "sha1_x16_avx512": 9.9, "sha1dc in C": 1.0}
        rows = [vars(row(name, rate)) for name, rate in names.items()]
        suite = {"algorithm": "SHA-1 with detection of attacks", "rows": rows}
        goals = {goal.text: goal for goal in engine_goals(Results({"checked": [suite]}))}
        what = "checked SHA-1, messages of 16384 bytes, x8_avx2 /"
        self.assertEqual(list(goals), [f"{what} unchecked", f"{what} sha1dc in C"])
        self.assertEqual([goal.measured for goal in goals.values()], ["0.750", "3.600"])

    def test_goals_of_absent_libraries_are_not_measured(self) -> None:
        """They are neither met nor missed."""
        suite = {"algorithm": "SHA-1", "rows": [vars(row("hashlane", 1.0))]}
        goals = engine_goals(Results({"sizes": [suite]}))
        self.assertEqual({goal.met for goal in goals}, {None})


class Reports(unittest.TestCase):
    """The recorded reports are what their records say."""

    def test_pairs_are_compared_by_time_or_by_speed(self) -> None:
        """The second library needs half of the time of the first."""
        pairs = [Pair("sha1", 64, [100.0, 100.0], [50.0, 50.0])]
        by_time, by_speed = (pairs_report(key, pairs).splitlines() for key in ("capi", "libmd"))
        self.assertIn("| algorithm | bytes per message | Rust, ns | C, ns | ratio |", by_time[4])
        self.assertEqual(by_time[6], "| sha1 | 64 | 100.0 | 50.0 | 0.50 | 0.50 to 0.50 |")
        self.assertIn("## Goals: 1 of 1 met", by_time)
        self.assertEqual(by_speed[6], "| sha1 | 64 | 640 | 1280 | 2.00 | 2.00 to 2.00 |")

    def test_figures_are_aligned_right(self) -> None:
        """In columns with nothing else, except the first."""
        lines = list(table(("1", "2", "3", "4"), [("1", "1 s", "x", ""), ("2", "-", "3", "")]))
        self.assertEqual(lines[1], "| --- | ---: | --- | --- |")

    def test_ticks_are_round(self) -> None:
        """At most nine of them."""
        self.assertEqual(list(ticks(9.0)), [0, 2, 4, 6, 8])

    def test_recorded_reports_are_generated(self) -> None:
        """To change a report, change the program and render it again."""
        for folder in SHA:
            results = Results.read(folder / "sha.json")
            self.assertEqual((folder / "SHA.md").read_text(), engine_report(results))
            self.assertEqual((folder / "sha.svg").read_text(), bar_chart(results))
            self.assertEqual((folder / "sha-lengths.svg").read_text(), line_chart(results))
        for name, text in pictures().items():
            self.assertEqual((IMAGES / name).read_text(), text, "run python3 bench/book.py")
        for folder in TORRENTS:
            report = Report.read(folder / "results.json")
            self.assertEqual((folder / "RESULTS.md").read_text(), report.text())


if __name__ == "__main__":
    unittest.main()
