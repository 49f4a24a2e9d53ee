//! CI: the steps of `.ci/steps.toml`, one after the other, with the time of each. A step whose inputs have the content of its last
//! recorded pass is not run.

pub(crate) mod bare;
mod inputs;
mod machine;
mod manifests;
mod steps;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::project::Project;
use crate::report::{JUNIT, JUNIT_BARE, Report};
use inputs::{Files, Passes};
use steps::{Outcome, Step, Surroundings, Table};

/// Which steps to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Steps to run, also if their inputs have not changed; all steps if none is named
    steps: Vec<String>,
    /// Write what passes to .ci/passed, as FULL=1 does
    #[arg(long)]
    record: bool,
    /// List the steps that would be run
    #[arg(long)]
    list: bool,
    /// What to do about missing tools; by default, they are installed before the steps
    #[arg(long, value_enum)]
    setup: Option<Setup>,
}

/// What a run does about missing tools.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Setup {
    /// Install them, and run no step
    Only,
    /// Install nothing
    Skip,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<()> {
    let began = Instant::now();
    let is_full = std::env::var_os("FULL").is_some_and(|value| !value.is_empty());
    let table = Table::read(project)?;
    machine::print(project);
    if arguments.setup != Some(Setup::Skip) && !arguments.list {
        machine::install(project)?;
        println!("== tools: installed in {} s", began.elapsed().as_secs());
    }
    if arguments.setup == Some(Setup::Only) {
        return Ok(());
    }
    let mut passes = Passes::read(project)?;
    let mut report = Report::default();
    let is_forced = is_full || !arguments.steps.is_empty();
    let runs = runs(project, arguments, &table, &passes, is_forced, &mut report)?;
    if arguments.list {
        for (step, _) in &runs {
            println!("== {}: {}", step.name, step.run);
        }
        return Ok(());
    }
    let surroundings = surroundings(project, is_full)?;
    let is_recorded = is_full || arguments.record;
    // At once: a run that is ended later leaves what passed.
    let outcomes = run_steps(&surroundings, &runs, |at, outcome| {
        let (step, key) = &runs[at];
        if is_recorded && !step.always && outcome.passed {
            passes.add(&step.name, key);
            passes.write(project)?;
        }
        Ok(())
    })?;
    println!("== seconds");
    let mut failed = Vec::new();
    for ((step, _), outcome) in runs.iter().zip(&outcomes) {
        report.add_output(&outcome.output);
        let seconds = outcome.time.as_secs();
        if outcome.passed {
            println!("{seconds:6}  {}", step.name);
        } else {
            failed.push(step.name.as_str());
            report.add_failed_step(&step.name, outcome.output.clone());
            println!("{seconds:6}  {}: FAILED", step.name);
        }
    }
    if runs.iter().any(|(step, _)| step.name == "test") {
        for (junit, run_later) in [(JUNIT_BARE, true), (JUNIT, false)] {
            let junit = project.path(junit);
            if junit.exists() {
                report.add_junit(&junit, run_later)?;
            }
        }
    }
    report.print();
    println!("== {} s in all", began.elapsed().as_secs());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    report.check()?;
    println!("{} passed, 0 failed", outcomes.len());
    Ok(())
}

/// Returns the steps to run with the hash of their inputs. Says which do not run, and why.
fn runs<'table>(
    project: &Project,
    arguments: &Arguments,
    table: &'table Table,
    passes: &Passes,
    is_forced: bool,
    report: &mut Report,
) -> Result<Vec<(&'table Step, String)>> {
    let files = Files::of(project)?;
    let mut runs = Vec::new();
    for step in table.choose(&arguments.steps)? {
        let key = table.key(project, &files, step)?;
        let is_due = is_forced || step.always;
        let pass = passes.find(&step.name, &key).filter(|_| !is_due);
        if let Some(pass) = pass {
            println!("== {}: passed at {pass}", step.name);
        } else if step.full && !is_forced {
            report.add(
                &format!("the step {}", step.name),
                "it takes long",
                "FULL=1 bash .ci/run",
            );
        } else {
            runs.push((step, key));
        }
    }
    Ok(runs)
}

fn surroundings(project: &Project, is_full: bool) -> Result<Surroundings> {
    let mut variables = machine::requirements(project)?;
    variables.push((
        "PATH".to_owned(),
        project.shell.var("PATH").unwrap_or_default(),
    ));
    if is_full {
        variables.push(("HASHLANE_TEST_KILLS".to_owned(), "20".to_owned()));
    }
    Ok(Surroundings {
        root: project.root.clone(),
        variables,
    })
}

/// Runs the steps in their order, and those of other target folders beside them with what the processors have left. Tests wait for
/// most of their time. Calls `done` with the place of each step that has ended.
fn run_steps(
    surroundings: &Surroundings,
    runs: &[(&Step, String)],
    mut done: impl FnMut(usize, &Outcome) -> Result<()>,
) -> Result<Vec<Outcome>> {
    let (sender, receiver) = mpsc::channel();
    let mut outcomes: Vec<_> = runs.iter().map(|_| Outcome::default()).collect();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (at, (step, _)) in runs.iter().enumerate().filter(|(_, (step, _))| step.beside) {
                let outcome = steps::execute(surroundings, step, false);
                // The receiver is gone only if this function has panicked.
                let _ = sender.send((at, outcome));
            }
        });
        let mut keep = |at: usize, outcome: Outcome, is_printed: bool| {
            if !is_printed {
                print!("{}", outcome.output);
            }
            done(at, &outcome)?;
            outcomes[at] = outcome;
            anyhow::Ok(())
        };
        for (at, (step, _)) in runs
            .iter()
            .enumerate()
            .filter(|(_, (step, _))| !step.beside)
        {
            keep(at, steps::execute(surroundings, step, true), true)?;
            while let Ok((at, outcome)) = receiver.recv_timeout(Duration::ZERO) {
                keep(at, outcome, false)?;
            }
        }
        while let Ok((at, outcome)) = receiver.recv() {
            keep(at, outcome, false)?;
        }
        anyhow::Ok(())
    })?;
    Ok(outcomes)
}
