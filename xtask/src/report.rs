//! What a run of tests has to say beside its failures: the slowest tests, and what was not run.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

/// Starts the line of a test, or of a job, that lacks what it needs.
const NOT_RUN: &str = "NOT RUN: ";
/// Where cargo-nextest writes its results, as `.config/nextest.toml` says.
pub(crate) const JUNIT: &str = "target/nextest/default/junit.xml";
const N_SLOWEST: usize = 10;

/// What is collected while tests run.
#[derive(Default)]
pub(crate) struct Report {
    not_run: BTreeSet<String>,
    seconds: Vec<(f64, String)>,
}

impl Report {
    /// Adds the lines of an output that name what was not run.
    pub(crate) fn add_output(&mut self, output: &str) {
        for line in output.lines() {
            if let Some(at) = line.find(NOT_RUN) {
                self.not_run.insert(line[at..].trim_end().to_owned());
            }
        }
    }

    /// Adds the results of cargo-nextest: the output of each test, and its time.
    pub(crate) fn add_junit(&mut self, file: &Path) -> Result<()> {
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
            for output in case.children().filter_map(|node| node.text()) {
                self.add_output(output);
            }
        }
        Ok(())
    }

    /// Prints the slowest tests, what was not run, and how many of these there are.
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
    }
}
