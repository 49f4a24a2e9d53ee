//! Options from the configuration, for commands that clap parses.
//!
//! An option of a command is a key in the command's table, by its long name. So the definitions of clap are the only
//! list of keys. Configured values become arguments before those of the user: clap checks both in the same way, and the
//! command does not see the difference. Options that the user gives, and their rivals, are left out.
//!
//! | file | contents |
//! |---|---|
//! | `keys.rs` | the tables, and the options that can be configured |
//! | `settings.rs` | the values that apply to a command line: precedence, rivals |
//! | `argument.rs` | a value as arguments, checked by the option's own parser |

mod argument;
mod keys;
mod settings;

#[cfg(unix)]
use std::collections::BTreeMap;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches};
use hashlane_config::{Config, Error, Sources};

use crate::Env;
use crate::options::Switch as _;

use keys::{all_tables, is_configurable, is_switch};

pub use keys::ConfigurationKey;
pub(super) use keys::{Configurable, DAEMON_TABLES, all_keys, options_of};
pub(super) use settings::Setting;

/// Returns the definition of the program with only one of its commands.
pub(super) fn program(command: clap::Command) -> clap::Command {
    clap::Command::new("hashlane")
        .bin_name("hashlane")
        .subcommand_required(true)
        .subcommand(command)
}

/// A command line with the options of the configuration.
pub(super) struct Line {
    /// The definition that parsed the arguments.
    pub(super) definition: clap::Command,
    /// The options of the configuration that apply, and the others that it sets.
    pub(super) settings: Vec<Setting>,
    /// The options that the user gave, by their ids.
    pub(super) given: HashSet<String>,
    /// The arguments, with those of the configuration.
    args: Vec<OsString>,
    /// The parsed arguments of the program, whose command has the options.
    pub(super) result: Result<ArgMatches, clap::Error>,
}

impl Line {
    /// Parses a command line, and adds the options of the configuration. `all` are the commands that can be configured.
    pub(super) fn parse(
        command: Configurable,
        args: Vec<OsString>,
        env: &Env,
        all: &[Configurable],
    ) -> Result<Self, Error> {
        let (definition, result) = parse(command, &args);
        let mut line = Self {
            definition,
            settings: Vec::new(),
            given: HashSet::new(),
            args,
            result,
        };
        let matches = match &line.result {
            Ok(matches) => matches.clone(),
            // The configuration may have the missing option.
            Err(error) if error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
                line.lenient()
            }
            Err(_) => return Ok(line),
        };
        let Some(matches) = matches.subcommand_matches(command.name) else {
            return Ok(line);
        };
        line.given = given(matches);
        let config = load(env, file(matches), all)?;
        if config.layers().is_empty() {
            return Ok(line);
        }
        if let Some(definition) = line.definition.find_subcommand(command.name) {
            line.settings = settings::of(env, definition, &config, matches, &line.given)?;
        }
        let added: Vec<OsString> = line.settings.iter().flat_map(Setting::arguments).collect();
        if !added.is_empty() {
            // After the names of the program and the command.
            line.args.splice(2..2, added);
            let result = line.definition.try_get_matches_from_mut(&line.args);
            // The message about an argument that is still missing does not mention configured options.
            if result.is_ok() || line.result.is_ok() {
                line.result = result;
            }
        }
        Ok(line)
    }

    /// Returns the values of the options that the configuration can set, by their long names: none of an option without a
    /// value, and none at all if the arguments are invalid.
    #[cfg(unix)]
    pub(super) fn values(&self, command: &str) -> BTreeMap<String, Vec<OsString>> {
        let definition = self.definition.find_subcommand(command);
        let matches = self.result.as_ref().ok();
        let matches = matches.and_then(|matches| matches.subcommand_matches(command));
        let (Some(definition), Some(matches)) = (definition, matches) else {
            return BTreeMap::new();
        };
        let options = options_of(definition).into_iter();
        let values = options.filter_map(|arg| {
            let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
            let values = values.map(std::ffi::OsStr::to_owned).collect();
            Some((arg.get_long()?.to_owned(), values))
        });
        values.collect()
    }

    /// Returns the arguments that are valid.
    pub(super) fn lenient(&self) -> ArgMatches {
        let lenient = self.definition.clone().ignore_errors(true);
        lenient.try_get_matches_from(&self.args).unwrap_or_default()
    }
}

/// Parses arguments, and returns the definition too. A switch accepts `=0`, which turns off what the configuration turns
/// on. The help does not show that for each switch.
fn parse(
    command: Configurable,
    args: &[OsString],
) -> (clap::Command, Result<ArgMatches, clap::Error>) {
    let mut definition = program(command.definition());
    let result = definition.try_get_matches_from_mut(args);
    match result {
        Err(error) if error.kind() == clap::error::ErrorKind::TooManyValues => {
            let with_values = command.definition().mut_args(|arg| {
                if is_switch(&arg) && is_configurable(&arg) {
                    arg.action(ArgAction::Set).switch().default_value("0")
                } else {
                    arg
                }
            });
            let mut definition = program(with_values);
            let result = definition.try_get_matches_from_mut(args);
            (definition, result)
        }
        result => (definition, result),
    }
}

/// Returns the ids of the options that the user gave.
fn given(matches: &ArgMatches) -> HashSet<String> {
    let ids = matches.ids().map(clap::Id::as_str);
    let given = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
    given.map(str::to_owned).collect()
}

/// Returns the file of `--config`.
fn file(matches: &ArgMatches) -> Option<&PathBuf> {
    matches.try_get_one("config").ok().flatten()
}

/// Returns the files and variables of a run with the file of `--config`.
pub(super) fn sources(env: &Env, file: Option<&PathBuf>) -> Sources {
    let mut sources = env.config.clone();
    if let Some(file) = file {
        sources.file = Some(env.resolve(file));
    }
    sources
}

/// Reads the configuration and checks its keys.
pub(super) fn load(
    env: &Env,
    file: Option<&PathBuf>,
    all: &[Configurable],
) -> Result<Config, Error> {
    let config = Config::load(&sources(env, file), &all_tables(all))?;
    keys::check(&config, all)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::error::{ContextKind, ContextValue, ErrorKind};

    use super::keys::ONCE;
    use super::settings::DEPENDENT;
    use super::*;
    use crate::commands::CONFIGURABLE;

    #[test]
    fn options_that_cannot_be_configured_exist() {
        let commands: Vec<clap::Command> = CONFIGURABLE.map(Configurable::definition).into();
        let options = commands.iter().flat_map(clap::Command::get_arguments);
        let names: BTreeSet<&str> = options.filter_map(clap::Arg::get_long).collect();
        for name in ONCE {
            assert!(names.contains(name), "{name}");
        }
    }

    /// Returns the options that a command requires beside this one.
    fn required(command: Configurable, option: &str) -> Vec<String> {
        let any_value = |arg: clap::Arg| match arg.get_action() {
            ArgAction::SetTrue => arg,
            _ => arg.value_parser(clap::value_parser!(OsString)),
        };
        let program = program(command.definition().mut_args(any_value));
        let result = program.try_get_matches_from(["hashlane", command.name, option]);
        let Err(error) = result else {
            return Vec::new();
        };
        assert_eq!(error.kind(), ErrorKind::MissingRequiredArgument, "{error}");
        let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
            panic!("{error}");
        };
        let options = missing.iter().filter(|text| text.starts_with("--"));
        options
            .map(|text| text.split(' ').next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn options_that_need_others_are_known() {
        let mut found = BTreeSet::new();
        for command in CONFIGURABLE {
            let definition = command.definition();
            for arg in options_of(&definition) {
                let name = arg.get_long().unwrap_or_default();
                let option = if is_switch(arg) {
                    format!("--{name}")
                } else {
                    format!("--{name}=x")
                };
                let needed = required(command, &option);
                found.extend(needed.into_iter().map(|needed| (name.to_owned(), needed)));
            }
        }
        let known = DEPENDENT.map(|(name, needed)| (name.to_owned(), format!("--{needed}")));
        assert_eq!(found, known.into());
    }
}
