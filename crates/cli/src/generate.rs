//! What is generated from the definition of the command line: completions and man pages.

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::{Cli, Completions, Man};
use crate::{Env, Exit};

impl Completions {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        // Into memory first: clap_complete panics where it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "hashlane", &mut script);
        env.stdout.write_all(&script)?;
        Ok(Exit::Good)
    }
}

impl Man {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        match self.out {
            None => clap_mangen::Man::new(Cli::command()).render(&mut env.stdout)?,
            Some(folder) => {
                let place = env.resolve(&folder);
                std::fs::create_dir_all(&place)
                    .and_then(|()| clap_mangen::generate_to(Cli::command(), &place))
                    .with_context(|| folder.display().to_string())?;
            }
        }
        Ok(Exit::Good)
    }
}
