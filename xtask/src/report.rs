//! What a run has to say at its end: the slowest tests, what was not run, and what failed.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::not_run::{self, START};

/// Where cargo-nextest writes its results, as `.config/nextest.toml` says.
pub(crate) const JUNIT: &str = "target/nextest/default/junit.xml";
/// What follows the number of tests that run again. What was not run before this line was run after it.
pub(crate) const LACKED: &str = "tests lacked something";
/// The reason of a report that no installation changes.
const OF_CPU: &str = ", because this CPU lacks ";
/// Where the results of the run in a bare environment are kept.
pub(crate) const JUNIT_BARE: &str = "target/nextest/default/bare.xml";
const N_SLOWEST: usize = 10;
/// Tests whose last lines are repeated at the end, and how many lines.
const N_FAILURES: usize = 20;
const N_LINES: usize = 25;

/// What is collected while tests run.
#[derive(Default)]
pub(crate) struct Report {
    not_run: BTreeSet<String>,
    seconds: Vec<(f64, String)>,
    failed_steps: Vec<Failure>,
    failed_tests: Vec<Failure>,
}

/// What failed, and what it printed.
struct Failure {
    name: String,
    output: String,
}

impl Report {
    /// Adds what was not run, why, and how to get what is missing.
    pub(crate) fn add(&mut self, what: &str, because: &str, how: &str) {
        self.not_run.insert(not_run::line(what, because, how));
    }

    /// Adds the lines of an output that name what was not run, and was not run later either.
    pub(crate) fn add_output(&mut self, output: &str) {
        let at = output.rfind(LACKED).unwrap_or_default();
        for line in output[at..].lines() {
            if let Some(at) = line.find(START) {
                self.not_run.insert(line[at..].trim_end().to_owned());
            }
        }
    }

    /// Returns the test program and the name of each test that could not do all of its work because it lacked something that can be
    /// installed, from the results of cargo-nextest. Adds what the others lacked.
    pub(crate) fn lacking_tests(&mut self, file: &Path) -> Result<Vec<(String, String)>> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let document =
            roxmltree::Document::parse(&text).with_context(|| file.display().to_string())?;
        let mut tests = Vec::new();
        for case in document
            .descendants()
            .filter(|node| node.has_tag_name("testcase"))
        {
            let mut own = Self::default();
            for output in case.children().filter_map(|node| node.text()) {
                own.add_output(output);
            }
            if own.not_run.iter().all(|line| line.contains(OF_CPU)) {
                self.not_run.append(&mut own.not_run);
            } else {
                let attribute = |name| case.attribute(name).unwrap_or_default().to_owned();
                tests.push((attribute("classname"), attribute("name")));
            }
        }
        Ok(tests)
    }

    /// Adds the results of cargo-nextest: the time of each test, what failed, and what was not run unless it was `run_later`.
    pub(crate) fn add_junit(&mut self, file: &Path, run_later: bool) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let document =
            roxmltree::Document::parse(&text).with_context(|| file.display().to_string())?;
        for case in document
            .descendants()
            .filter(|node| node.has_tag_name("testcase"))
        {
            let seconds = case.attribute("time").and_then(|time| time.parse().ok());
            let binary = case.attribute("classname").unwrap_or_default();
            let name = case.attribute("name").unwrap_or_default();
            self.seconds
                .push((seconds.unwrap_or(0.0), format!("{binary} {name}")));
            let outputs = case.children().filter_map(|node| node.text());
            for output in outputs.filter(|_| !run_later) {
                self.add_output(output);
            }
            let is_failure = |node: &roxmltree::Node<'_, '_>| {
                node.has_tag_name("failure") || node.has_tag_name("error")
            };
            if case.children().any(|node| is_failure(&node)) {
                let texts = case.children().filter_map(|node| node.text());
                let output = texts.collect::<Vec<_>>().join("\n");
                let name = format!("{binary} {name}");
                self.failed_tests.push(Failure { name, output });
            }
        }
        Ok(())
    }

    /// Adds a step of CI that failed.
    pub(crate) fn add_failed_step(&mut self, name: &str, output: String) {
        let name = name.to_owned();
        self.failed_steps.push(Failure { name, output });
    }

    /// Prints the slowest tests, what was not run, and what failed.
    pub(crate) fn print(&mut self) {
        self.seconds.sort_by(|a, b| b.0.total_cmp(&a.0));
        if !self.seconds.is_empty() {
            println!("== slowest tests");
            for (seconds, name) in self.seconds.iter().take(N_SLOWEST) {
                println!("{seconds:6.1} s  {name}");
            }
        }
        println!("== not run: {}", self.not_run.len());
        for line in &self.not_run {
            println!("{line}");
        }
        for failure in &self.failed_steps {
            failure.print();
        }
        for failure in self.failed_tests.iter().take(N_FAILURES) {
            failure.print();
        }
        for Failure { name, .. } in &self.failed_tests {
            println!("test {name} ... FAILED");
        }
    }

    /// Fails if a line does not say why something was not run, and how to get what is missing.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = self.not_run.iter().filter(|line| !is_complete(line));
        let wrong: Vec<&str> = wrong.map(String::as_str).collect();
        if !wrong.is_empty() {
            bail!(
                "not in the form `{}`:\n{}",
                not_run::line("what", "what", "how to get it"),
                wrong.join("\n")
            );
        }
        Ok(())
    }
}

impl Failure {
    /// Prints the last lines.
    fn print(&self) {
        println!("== failed: {}", self.name);
        let lines: Vec<_> = self.output.trim_end().lines().collect();
        for line in &lines[lines.len().saturating_sub(N_LINES)..] {
            println!("{line}");
        }
    }
}

/// Returns `true` if a line has all parts of a report.
fn is_complete(line: &str) -> bool {
    let parts = line.strip_prefix(START).and_then(|text| {
        let (what, rest) = text.split_once(", because ")?;
        let (because, how) = rest.split_once("; ")?;
        Some([what, because, how])
    });
    parts.is_some_and(|parts| parts.iter().all(|part| !part.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_found_in_outputs() {
        let line = not_run::line("tests with git", "it\nis  missing\n", "apt-get install git");
        let mut report = Report::default();
        report.add_output(&format!("test a ... {line}\r\nok\n{line}\nNOT RUN"));
        let expected = format!("{START}tests with git, because it is missing; apt-get install git");
        assert_eq!(report.not_run, BTreeSet::from([expected]));
        assert!(report.check().is_ok());
    }

    #[test]
    fn failures_are_those_of_the_results() {
        let file = std::env::temp_dir().join(format!("junit-{}.xml", std::process::id()));
        let text = r#"<testsuites><testsuite name="a">
            <testcase name="one" classname="a" time="0.5"><system-out>fine</system-out></testcase>
            <testcase name="less" classname="a::it" time="0.1"><system-err>NOT RUN: a, because b; c</system-err></testcase>
            <testcase name="lanes" classname="a" time="0.1"><system-err>NOT RUN: x, because this CPU lacks it; y</system-err></testcase>
            <testcase name="two" classname="a" time="1.5">
              <failure type="test failure">at line 3</failure><system-out>began</system-out>
            </testcase></testsuite></testsuites>"#;
        std::fs::write(&file, text).unwrap();
        let mut report = Report::default();
        report.add_junit(&file, false).unwrap();
        assert_eq!(report.not_run.len(), 2);
        let mut later = Report::default();
        later.add_junit(&file, true).unwrap();
        later.add_output(&format!("{START}a, because b; c\n== 1 {LACKED}\n"));
        assert!(later.not_run.is_empty());
        let left = later.lacking_tests(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        // Only another machine runs it.
        assert_eq!(later.not_run.len(), 1);
        assert_eq!(left, [("a::it".to_owned(), "less".to_owned())]);
        assert_eq!(report.seconds.len(), 4);
        let [Failure { name, output }] = &report.failed_tests[..] else {
            panic!("{} failures", report.failed_tests.len());
        };
        assert_eq!(name, "a two");
        assert!(
            output.contains("at line 3") && output.contains("began"),
            "{output}"
        );
    }

    #[test]
    fn a_report_says_why_and_what_to_do() {
        for text in [
            "git is not installed",
            "tests with git: not installed",
            "tests with git, because it is missing",
            "tests with git, because it is missing.",
            "tests with git, because it is missing; ",
            ", because it is missing; apt-get install git",
            "tests with git; apt-get install git",
        ] {
            let mut report = Report::default();
            report.add("the step package", "it takes long", "FULL=1 bash .ci/run");
            report.add_output(&format!("{START}{text}"));
            let error = report.check().unwrap_err().to_string();
            assert!(error.contains(text.trim_end()), "{error}");
            assert!(!error.contains("the step package"), "{error}");
        }
    }
}
