//! `hashlane completions`.

use clap::Args;
use clap_complete::Shell;

use crate::{Env, Exit};

/// Print shell completions
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print completions for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(
        self,
        env: &mut Env,
        mut command_line: clap::Command,
    ) -> anyhow::Result<Exit> {
        // clap_complete panics if a write fails, so the script goes to memory first.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line, "hashlane", &mut script);
        env.stdout.write_all(&script)?;
        Ok(Exit::Good)
    }
}
