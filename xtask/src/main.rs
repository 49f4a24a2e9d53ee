//! `cargo xtask JOB`: everything that is run on the project and is not `make build` or `make install`. Each job prints its commands,
//! so that one of them can be repeated alone. A job that lacks a tool fails with its name and how to get it; a part of a job that lacks
//! one prints `NOT RUN: what, because what; how to get it`.
#![forbid(unsafe_code)]

mod bench;
mod checks;
mod ci;
mod counterparts;
mod dist;
mod engine;
mod kernel;
mod not_run;
mod project;
mod python;
mod report;
mod tests;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::project::Project;

/// Tests, checks, benchmarks and packages of Hashlane
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    #[command(flatten)]
    Tests(tests::Job),
    #[command(flatten)]
    Checks(checks::Job),
    #[command(flatten)]
    Engine(engine::Job),
    #[command(flatten)]
    Kernel(kernel::Job),
    #[command(flatten)]
    Python(python::Job),
    #[command(flatten)]
    Dist(dist::Job),
    #[command(flatten)]
    Bench(bench::Job),
    /// Install the programs that tests compare with, or drive Hashlane by, in target/counterparts
    Counterparts,
    /// Run what CI runs; FULL=1 runs each step, also if its inputs are those of its last recorded pass
    Ci(ci::Arguments),
    /// Run a command where nothing but Rust, a C compiler, make, git and the programs of each Debian are found
    Bare {
        /// Use what is compiled with libtorrent, if it is installed, and cargo-nextest
        #[arg(long)]
        reuse: bool,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().job) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(job: Job) -> anyhow::Result<()> {
    let project = Project::open()?;
    match job {
        Job::Tests(job) => job.run(&project),
        Job::Checks(job) => job.run(&project),
        Job::Engine(job) => job.run(&project),
        Job::Kernel(job) => job.run(&project),
        Job::Python(job) => job.run(&project),
        Job::Dist(job) => job.run(&project),
        Job::Bench(job) => job.run(&project),
        Job::Counterparts => counterparts::install(&project),
        Job::Ci(arguments) => ci::run(&project, &arguments),
        Job::Bare { reuse, command } => ci::bare::run(&project, reuse, &command),
    }
}
