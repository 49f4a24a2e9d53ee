//! `make bench-capi`: measures the cost of calls from C, and writes CAPI.md.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hashlane_bench_sha::border;
use hashlane_bench_sha::machine::Machine;
use hashlane_bench_sha::measure::quartiles;

/// The highest accepted ratio for messages of 64 bytes.
const GOAL: f64 = 1.15;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hashlane-bench-border: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let library = arguments.next().context("usage: border LIBRARY [FOLDER]")?;
    let folder = arguments.next().unwrap_or_else(|| "bench".into());
    let machine = Machine::this();
    let borders = border::measure(Path::new(&library)).with_context(|| library.clone())?;
    let mut text = format!(
        "# The cost of the C border\n\n{}, {}, load {}, commit {}. Written by `make bench-capi`; \
         [README.md](README.md#the-c-library) has the method.\n\n\
         | algorithm | bytes per message | Rust, ns | C, ns | ratio | goal |\n|---|--:|--:|--:|--:|---|\n",
        machine.cpu, machine.date, machine.load, machine.commit
    );
    for border in &borders {
        let ratio = quartiles(&border.ratios());
        let goal = match border.len {
            64 if ratio.median <= GOAL => format!("≤ {GOAL}: met"),
            64 => format!("≤ {GOAL}: NOT met"),
            _ => String::new(),
        };
        writeln!(
            text,
            "| {} | {} | {:.1} | {:.1} | {:.2} ({:.2} to {:.2}) | {goal} |",
            border.algorithm,
            border.len,
            quartiles(&border.rust).median,
            quartiles(&border.c).median,
            ratio.median,
            ratio.low,
            ratio.high,
        )?;
    }
    let path = Path::new(&folder).join("CAPI.md");
    std::fs::write(&path, &text).with_context(|| path.display().to_string())?;
    print!("{text}");
    Ok(())
}
