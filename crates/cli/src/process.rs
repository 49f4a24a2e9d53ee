//! The start of a program: the limit of open files, and signals.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hashlane_verify::CancelToken;

use crate::network::NetworkCommands;
use crate::{EndAtOnce, Env, run};

/// Runs the program in this process, and returns its exit status. `network` runs the commands that need libtorrent.
pub fn run_process(network: &dyn NetworkCommands) -> ExitCode {
    hashlane_files::raise_open_file_limit();
    let mut env = Env {
        interrupts: Some(install_interrupts),
        ..Env::of_process()
    };
    run(&mut env, network).code().into()
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
    ctrlc::set_handler(handler).map_err(io::Error::other)
}
