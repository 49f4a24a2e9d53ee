//! `hashlane completions`: scripts that complete command lines in shells.

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Args, Command, ValueEnum, ValueHint};
use clap_complete::Shell;
use hashlane_base58::Kind;
use hashlane_sums::Algorithm;

use super::call::{Flag, Page};
use super::configured::Configurable;
use super::create::preset;
use super::{coreutils, digest};
use crate::{Env, Exit};

/// Print shell completions
///
/// Options, algorithms, kinds, presets and other values are completed, and the info-hashes of the torrents of a running
/// daemon. `hashlane sha256sum` and the other programs are
/// completed too.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print completions for
    #[arg(required_unless_present = "values")]
    shell: Option<Shell>,

    /// Program to complete where it is called by a link of its name, for example `b3sum` [default: hashlane]
    #[arg(value_name = "PROGRAM")]
    program: Option<String>,

    /// Print the values that a script completes, one per line.
    #[arg(long, value_name = "WHAT", hide = true, exclusive = true)]
    values: Option<Values>,
}

/// Values that are known only when a user presses Tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Values {
    Presets,
    Torrents,
}

impl Values {
    /// Returns the word that stands for the values in the scripts of clap.
    fn placeholder(self) -> &'static str {
        match self {
            Self::Presets => "HASHLANE_PRESETS",
            Self::Torrents => "HASHLANE_TORRENTS",
        }
    }

    /// Returns the command that prints the values.
    fn command(self) -> &'static str {
        match self {
            Self::Presets => "hashlane completions --values presets 2>/dev/null",
            Self::Torrents => "hashlane completions --values torrents 2>/dev/null",
        }
    }

    /// Returns the values of now.
    fn now(self, env: &mut Env, all: &[Configurable]) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Presets => Ok(preset::names(env)),
            #[cfg(unix)]
            Self::Torrents => super::ctl::info_hashes(env, all),
            // There is no daemon to ask.
            #[cfg(not(unix))]
            Self::Torrents => {
                let _ = all;
                Ok(Vec::new())
            }
        }
    }
}

impl Completions {
    /// `all` are the commands that can be configured.
    pub(crate) fn run(
        self,
        env: &mut Env,
        command_line: Command,
        all: &[Configurable],
    ) -> anyhow::Result<Exit> {
        if let Some(values) = self.values {
            for value in values.now(env, all)? {
                writeln!(env.stdout, "{}", crate::output::text::Escaped(value))?;
            }
            return Ok(Exit::Good);
        }
        let shell = self.shell.context("name a shell")?;
        let mut command = match &self.program {
            None => with_values(command_line, all),
            Some(name) => match programs().find(|program| program.get_name() == name) {
                Some(program) => program,
                None => {
                    bail!("{name}: no program that a link can call; `hashlane --help` lists them")
                }
            },
        };
        let name = command.get_name().to_owned();
        // clap_complete panics if a write fails, so the script goes to memory first.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, name, &mut script);
        let mut script = String::from_utf8(script)?;
        if shell == Shell::Fish {
            script.extend(fish_positionals(&command));
        }
        env.stdout
            .write_all(with_commands(shell, script).as_bytes())?;
        Ok(Exit::Good)
    }
}

/// Returns the command line with the values that clap does not know, and with the programs that clap does not parse.
fn with_values(command_line: Command, all: &[Configurable]) -> Command {
    let kinds = Kind::all();
    let kinds: Vec<String> = kinds.iter().map(|kind| kind.name.to_string()).collect();
    let commands: Vec<String> = all.iter().map(|command| command.name.to_owned()).collect();
    let names = command_line.get_subcommands().map(Command::get_name);
    let pages: Vec<String> = names.map(str::to_owned).chain(program_names()).collect();
    let values = |command: Command, argument: &'static str, values: Vec<String>| {
        // `mut_arg` would move the argument behind the others.
        command.mut_args(|arg| {
            if arg.get_id() == argument {
                arg.value_parser(PossibleValuesParser::new(values.clone()))
            } else {
                arg
            }
        })
    };
    let algorithms = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let algorithms = algorithms
        .chain(super::sum::tree_names())
        .map(str::to_owned);
    #[cfg(unix)]
    let command_line = command_line.mut_subcommand("ctl", |ctl| {
        let actions = ctl.get_subcommands().map(Command::get_name);
        // `add` takes files.
        let actions = actions.filter(|action| *action != "add").map(str::to_owned);
        let actions: Vec<String> = actions.collect();
        actions.into_iter().fold(ctl, |ctl, action| {
            ctl.mut_subcommand(action, |action| {
                let has = |id: &&str| action.get_arguments().any(|arg| arg.get_id() == *id);
                let placeholder = || vec![Values::Torrents.placeholder().to_owned()];
                match ["torrents", "torrent"].into_iter().find(has) {
                    Some(argument) => values(action, argument, placeholder()),
                    None => action,
                }
            })
        })
    });
    command_line
        .mut_subcommand("sum", |sum| values(sum, "algorithm", algorithms.collect()))
        .mut_subcommand("recover", |recover| values(recover, "kinds", kinds))
        .mut_subcommand("create", |create| {
            values(
                create,
                "preset",
                vec![Values::Presets.placeholder().to_owned()],
            )
        })
        .mut_subcommand("config", |config| values(config, "line", commands))
        .mut_subcommand("man", |man| values(man, "command", pages))
        .subcommands(programs())
}

/// Returns the pages of the programs that clap does not parse.
fn program_pages() -> impl Iterator<Item = Page> {
    coreutils::Program::pages().chain(digest::Program::pages())
}

fn program_names() -> impl Iterator<Item = String> {
    program_pages().map(|page| page.name.to_owned())
}

/// Returns definitions of the programs that clap does not parse, good only for completions.
fn programs() -> impl Iterator<Item = Command> {
    program_pages().map(|page| {
        let files = Arg::new("FILE")
            .num_args(0..)
            .value_hint(ValueHint::FilePath);
        Command::new(page.name)
            .about(page.about)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .args(page.options.into_iter().map(option))
            .arg(files)
    })
}

fn option(flag: Flag) -> Arg {
    let letter = flag.short.map(String::from);
    let id = flag.long.map(str::to_owned).or(letter).unwrap_or_default();
    let is_file = id.ends_with("file");
    let mut arg = Arg::new(id).action(if flag.takes_value {
        ArgAction::Set
    } else {
        ArgAction::SetTrue
    });
    if let Some(short) = flag.short {
        arg = arg.short(short);
    }
    if let Some(long) = flag.long {
        arg = arg.long(long);
    }
    if is_file {
        return arg.value_hint(ValueHint::FilePath);
    }
    if flag.takes_value && !flag.values.is_empty() {
        return arg.value_parser(PossibleValuesParser::new(flag.values));
    }
    arg
}

/// Returns the lines for fish that complete the values of positional arguments, which clap leaves out.
fn fish_positionals(command_line: &Command) -> Vec<String> {
    let name = command_line.get_name();
    let mut lines = Vec::new();
    for command in command_line.get_subcommands() {
        let using = format!("__fish_{name}_using_subcommand {}", command.get_name());
        lines.extend(fish_values(name, &using, command));
        for action in command.get_subcommands() {
            let action_name = action.get_name();
            let condition = format!("{using}; and __fish_seen_subcommand_from {action_name}");
            lines.extend(fish_values(name, &condition, action));
        }
    }
    lines
}

/// Returns the lines for the positional arguments of one command.
fn fish_values(name: &str, condition: &str, command: &Command) -> Vec<String> {
    let lines = command.get_positionals().filter_map(|argument| {
        let values = argument.get_possible_values();
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        let values = (!values.is_empty()).then(|| values.join(" "))?;
        Some(format!(
            "complete -c {name} -n '{condition}' -f -a '{values}'\n"
        ))
    });
    lines.collect()
}

/// Returns a script of clap that asks the program for values that are known only when a user presses Tab.
fn with_commands(shell: Shell, mut script: String) -> String {
    for values in [Values::Presets, Values::Torrents] {
        let (placeholder, command) = (values.placeholder(), values.command());
        script = match shell {
            Shell::Bash | Shell::Zsh => script.replace(placeholder, &format!("$({command})")),
            Shell::Fish => {
                let command = format!("({command})");
                // The values of options have a description, which is empty.
                let described = script.replace(&format!("{placeholder}\\t''"), &command);
                described.replace(placeholder, &command)
            }
            // Other shells complete none of these values.
            _ => script.replace(placeholder, ""),
        };
    }
    script
}
