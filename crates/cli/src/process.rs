//! The start of a program: the limit of open files, the hash backend, and signals.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hashlane_sha::{Backend, Engine};
use hashlane_verify::CancelToken;
#[cfg(unix)]
use rustix::process::{Resource, getrlimit};

use crate::network::NetworkCommands;
use crate::{EndAtOnce, Env, Exit, Startup, run};

/// Runs the program in this process, and returns its exit status. `network` runs the commands that need libtorrent.
pub fn run_process(network: &(dyn NetworkCommands + Sync)) -> ExitCode {
    hashlane_files::raise_open_file_limit();
    if has_stack() {
        return run_here(network);
    }
    let thread = thread::Builder::new().stack_size(MIN_STACK);
    thread::scope(
        |scope| match thread.spawn_scoped(scope, || run_here(network)) {
            Ok(run) => run.join().unwrap_or(Exit::NotChecked.code().into()),
            Err(error) => {
                let message =
                    "the limit on stacks (`ulimit -s`) is too low, and no thread can be started";
                Env::of_process().error(&format!("{message}: {error}"));
                Exit::NotChecked.code().into()
            }
        },
    )
}

/// Stack that the program uses at most, with room to spare. The definition of the command line alone needs 100 KiB.
const MIN_STACK: usize = 1 << 20;

/// Returns `true` if the stack of the main thread may grow to [`MIN_STACK`].
fn has_stack() -> bool {
    #[cfg(unix)]
    let limit = getrlimit(Resource::Stack).current;
    #[cfg(not(unix))]
    let limit = None;
    limit.is_none_or(|limit: u64| limit >= MIN_STACK as u64)
}

fn run_here(network: &dyn NetworkCommands) -> ExitCode {
    let mut env = Env {
        interrupts: Some(install_interrupts),
        ..Env::of_process()
    };
    match use_named_backend(std::env::var_os(BACKEND_VARIABLE)) {
        Ok(backend) => env.backend = backend,
        Err(error) => {
            env.error(&format!("{error:#}"));
            return Exit::NotChecked.code().into();
        }
    }
    let exit = run(&mut env, network);
    env.printer.finish(&env.cancel);
    exit.code().into()
}

/// The environment variable that names the one hash backend to use.
const BACKEND_VARIABLE: &str = "HASHLANE_BACKEND";

/// Makes the named backend hash everything in this process, and returns the backend. No name, or an
/// empty one, leaves the choice to the engine.
fn use_named_backend(name: Option<OsString>) -> anyhow::Result<Option<Backend>> {
    let name = name.unwrap_or_default();
    if name.is_empty() {
        return Ok(None);
    }
    let name = name.to_string_lossy();
    let context = || format!("{BACKEND_VARIABLE}: {name:?}");
    let backend: Backend = name.parse().with_context(context)?;
    let engine = Engine::with(backend).with_context(context)?;
    engine.set_default().context(BACKEND_VARIABLE)?;
    Ok(Some(backend))
}

/// Signals within this interval count as one: `timeout` sends its signal to the process and to its group.
const TOGETHER: Duration = Duration::from_millis(200);

fn install_interrupts(cancel: CancelToken, end_at_once: EndAtOnce) -> io::Result<()> {
    let mut asked: Option<Instant> = None;
    let handler = move || {
        let first = *asked.get_or_insert_with(Instant::now);
        if cancel.is_cancelled() && first.elapsed() > TOGETHER {
            // The user does not want to wait for the partial report.
            end_at_once("ended at once");
        }
        cancel.cancel();
    };
    let installed = ctrlc::set_handler(handler).map_err(io::Error::other);
    if installed.is_err() {
        // The signals have handlers even if the thread that waits for them cannot be started.
        Startup::restore_end_by_signals();
    }
    // The handler is also that of SIGHUP, which `nohup` ignores.
    if let Some(ignore_hangup) = Startup::of_process().ignore_hangup {
        ignore_hangup();
    }
    installed
}
