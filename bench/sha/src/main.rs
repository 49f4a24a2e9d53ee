//! `make bench-sha`: measures, evaluates the goals, and writes SHA.md, sha.json and the charts.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use hashlane_bench_sha::clock::Clock;
use hashlane_bench_sha::machine::Machine;
use hashlane_bench_sha::measure::quartiles;
use hashlane_bench_sha::results::{Results, to_json};
use hashlane_bench_sha::suites::Scale;
use hashlane_bench_sha::{chart, contenders, goals, levels, report, suites};

const USAGE: &str = "\
usage: hashlane-bench-sha [--quick] [--out FOLDER]

  --quick       measure for seconds: not for figures that are kept
  --out FOLDER  where SHA.md, sha.json, sha.svg and sha-lengths.svg go (default: bench)

Exit status: 0, or 1 if a kernel is below a floor, or more if it could not be measured.";

struct Options {
    quick: bool,
    out: PathBuf,
    /// Measure this feature level, as a child process.
    level: Option<String>,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("hashlane-bench-sha: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options> {
    let mut options = Options {
        quick: false,
        out: "bench".into(),
        level: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--out" => options.out = arguments.next().context(USAGE)?.into(),
            "--level" => options.level = Some(arguments.next().context(USAGE)?),
            _ => bail!("{USAGE}"),
        }
    }
    Ok(options)
}

/// Returns `true` if no kernel is below its floor.
fn run(options: &Options) -> Result<bool> {
    if let Some(level) = &options.level {
        levels::child(level)?;
        return Ok(true);
    }
    for absent in contenders::absent() {
        eprintln!("\n*** NOT COMPARED: {absent} ***\n");
    }
    let results = measure(options.quick)?;
    write(options, &results)?;

    let mut all_reached = true;
    for goal in goals::goals(&results) {
        print_verdict(&goal, "met", "NOT met");
    }
    for floor in goals::floors(&results) {
        print_verdict(&floor, "ok", "BELOW");
        all_reached &= floor.is_reached() != Some(false);
    }
    Ok(all_reached)
}

fn measure(quick: bool) -> Result<Results> {
    let scale = Scale { quick };
    let start = Instant::now();
    let machine = Machine::this();
    let mut clock = Clock::default();
    let step = |what: &str| eprintln!("{:4.0} s  {what}", start.elapsed().as_secs_f64());

    let content = suites::content(scale);
    step("message lengths");
    let sizes = suites::sizes(&content, scale, &mut clock);
    step("numbers of messages");
    let counts = suites::counts(&content, scale, &mut clock);
    step("shortage of messages");
    let shortage = suites::shortage(&content, scale, &mut clock);
    step("messages of 64 bytes");
    let short = suites::short(&content, scale, &mut clock);
    step("updates");
    let updates = suites::updates(&content, scale, &mut clock);
    drop(content);
    step("unequal lengths");
    let unequal = suites::unequal(scale, &mut clock);
    step("one message, by feature level");
    let levels = levels::measure(quick)?;
    step("done");

    let ghz = quartiles(&clock.into_ghz());
    Ok(Results {
        machine,
        quick,
        seconds: start.elapsed().as_secs_f64(),
        clock_ghz: [ghz.low, ghz.median, ghz.high],
        sizes,
        counts,
        shortage,
        short,
        updates,
        unequal,
        levels,
    })
}

fn write(options: &Options, results: &Results) -> Result<()> {
    fs::create_dir_all(&options.out).with_context(|| options.out.display().to_string())?;
    let files = [
        ("SHA.md", report::write(results).into_bytes()),
        ("sha.json", to_json(results)?),
        ("sha.svg", chart::bars(results)?.into_bytes()),
        ("sha-lengths.svg", chart::lengths(results)?.into_bytes()),
    ];
    for (name, content) in files {
        let path = options.out.join(name);
        fs::write(&path, content).with_context(|| path.display().to_string())?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

fn print_verdict(verdict: &goals::Verdict, good: &str, bad: &str) {
    let word = match verdict.is_reached() {
        Some(true) => good,
        Some(false) => bad,
        None => "not measured",
    };
    let measured = verdict
        .measured
        .map_or("-".into(), |ratio| format!("{:.3}", ratio.median));
    println!(
        "{word:12} {measured:>6} (at least {:.2})  {}",
        verdict.limit, verdict.text
    );
}
