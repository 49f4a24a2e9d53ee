//! Colours and progress, for every command.

use clap::{ArgMatches, Args, ValueEnum};

use crate::Env;

/// The look of the output on a terminal.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Look {
    /// When to colour results
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,

    /// Show no progress while the command works
    #[arg(long)]
    no_progress: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal; `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` apply
    #[default]
    Auto,
    /// Everywhere, also in files and pipes
    Always,
    /// Nowhere, also on a terminal
    Never,
}

/// The choices of a command line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chosen {
    color: Color,
    no_progress: bool,
}

impl Chosen {
    /// Reads the options from the arguments of a command. Commands without these options leave the defaults.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let color = matches.try_get_one("color").ok().flatten();
        let no_progress = matches.try_get_one("no_progress").ok().flatten();
        Self {
            color: color.copied().unwrap_or_default(),
            no_progress: no_progress.copied().unwrap_or_default(),
        }
    }

    /// Applies the choices to the terminal of a process.
    pub(crate) fn apply(self, env: &mut Env) {
        match self.color {
            Color::Auto => {}
            Color::Always => env.color = true,
            Color::Never => env.color = false,
        }
        if self.no_progress {
            env.progress = false;
        }
    }
}
