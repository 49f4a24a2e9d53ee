//! Measures, and prints the samples as JSON.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use hashlane_bench_sha::clock::Clock;
use hashlane_bench_sha::suites::{self, Scale, UpdateSuite};
use hashlane_bench_sha::{border, contenders, measure::Suite, recover};
use hashlane_sha::{Backend, Engine, MAX_LANES, Sha1, Sha256};
use serde::Serialize;

const USAGE: &str = "\
usage: hashlane-bench-sha engine [--quick]
       hashlane-bench-sha one-message BACKEND...
       hashlane-bench-sha border LIBRARY
       hashlane-bench-sha recover

Exit status: 0, or 2 if something could not be measured.";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hashlane-bench-sha: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["engine"] => print(&engine(Scale { quick: false })),
        ["engine", "--quick"] => print(&engine(Scale { quick: true })),
        ["one-message", ref names @ ..] => {
            let backends = names.iter().map(|name| name.parse::<Backend>());
            let backends = backends.collect::<Result<Vec<_>, _>>()?;
            print(&suites::one_message(&backends))
        }
        ["border", library] => {
            let borders = border::measure(library.as_ref());
            let borders = borders.with_context(|| library.to_owned())?;
            borders.iter().try_for_each(print)
        }
        ["recover"] => print(&recover::measure()?),
        _ => anyhow::bail!("{USAGE}"),
    }
}

/// Prints a line of JSON.
fn print(samples: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(samples)?);
    Ok(())
}

/// All samples of the engine, except those of one message, which need child processes.
#[derive(Serialize)]
struct Samples {
    /// The kernels that the engine chooses.
    engine: String,
    /// The libraries that report a version, with their versions.
    libraries: Vec<(&'static str, String)>,
    /// The libraries that are not compared, with the reasons.
    absent: Vec<&'static str>,
    /// The core's clock rate, sampled between the turns.
    clock_ghz: Vec<f64>,
    /// All contenders, for each message length.
    sizes: Vec<Suite>,
    /// SHA-1 with the detection of attacks, for two message lengths.
    checked: Vec<Suite>,
    /// MD5, for two message lengths.
    md5: Vec<Suite>,
    /// Each kernel, for several numbers of messages.
    counts: Vec<Suite>,
    /// Few messages: the engine, compared with one message after the other.
    shortage: Vec<Suite>,
    /// Messages of 64 bytes: the engine, compared with all ways to call OpenSSL.
    short: Vec<Suite>,
    /// One message in small updates: the engine, compared with `RustCrypto`.
    updates: Vec<UpdateSuite>,
    /// Messages of unequal lengths, compared with messages of one length.
    unequal: Vec<Suite>,
}

fn engine(scale: Scale) -> Samples {
    let start = Instant::now();
    let mut clock = Clock::default();
    let step = |what: &str| eprintln!("{:4.0} s  {what}", start.elapsed().as_secs_f64());

    let content = suites::content(scale);
    step("message lengths");
    let sizes = suites::sizes(&content, scale, &mut clock);
    step("SHA-1 with the detection of attacks");
    let checked = suites::checked(&content, scale, &mut clock);
    step("MD5");
    let md5 = suites::md5(&content, scale, &mut clock);
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

    let engine = Engine::detect();
    Samples {
        engine: format!(
            "{} and {} for many messages, {} and {} for one",
            engine.kernel::<Sha1>(MAX_LANES),
            engine.kernel::<Sha256>(MAX_LANES),
            engine.kernel::<Sha1>(1),
            engine.kernel::<Sha256>(1),
        ),
        libraries: contenders::libraries(),
        absent: contenders::absent(),
        clock_ghz: clock.into_ghz(),
        sizes,
        checked,
        md5,
        counts,
        shortage,
        short,
        updates,
        unequal,
    }
}
