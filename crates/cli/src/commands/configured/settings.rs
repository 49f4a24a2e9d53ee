//! The values that apply to a command line.
//!
//! A layer is the environment or a file. A value of a stronger layer wins. In one layer, the table of the command wins over
//! a table that several commands share.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches};
use hashlane_config::{Config, Error, Origin, Table};

use super::argument;
use super::keys::{PROXY, options, tables_of};
use crate::Env;
use crate::commands::create::preset;
use crate::options::network::PROXY_VARIABLE;

/// Options without effect unless another one is given. A configured one is then left out.
pub(crate) const DEPENDENT: [(&str, &str); 3] = [
    ("http-origin", "http"),
    ("log-level", "log"),
    ("presets", "preset"),
];

/// Options whose value is a command. Files with commands must belong to the user alone.
const COMMANDS: [&str; 1] = ["exec"];

/// A value of the configuration for an option.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The id of the option.
    pub(crate) id: String,
    /// The long name of the option.
    pub(crate) name: String,
    /// The table of the configuration file that has the key, for example `get`.
    pub(crate) table: String,
    /// The place of the value.
    pub(crate) origin: Origin,
    arguments: Vec<OsString>,
}

impl Setting {
    /// Returns the arguments that set the option.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        self.arguments.clone()
    }

    /// Returns `true` if the setting turns a switch off.
    fn is_off(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// Returns the settings that apply beside the options that the user gave.
pub(super) fn of(
    env: &Env,
    command: &clap::Command,
    config: &Config,
    matches: &ArgMatches,
    given: &HashSet<String>,
) -> Result<Vec<Setting>, Error> {
    let rivals = Rivals { command };
    let mut settings: Vec<Setting> = Vec::new();
    // The variable with the URL of the proxy wins over files, which name a file.
    let has_variable = env
        .config
        .variables
        .iter()
        .any(|(name, _)| name == PROXY_VARIABLE);
    for layer in config.layers() {
        for table in tables_of(command) {
            let Some(values) = layer.table(table) else {
                continue;
            };
            let new = level(command, table, values)?;
            let new = new.into_iter().filter(|new| {
                let is_taken = |name: &str| rivals.exclude(&new.name, name);
                let is_given =
                    given.contains(&new.id) || !new.is_off() && rivals.names(given).any(&is_taken);
                let is_set = settings.iter().any(|old| {
                    old.id == new.id || !old.is_off() && !new.is_off() && is_taken(&old.name)
                });
                let by_variable = layer.file.is_some() && has_variable && is_taken(PROXY);
                !is_given && !is_set && !by_variable
            });
            let new: Vec<Setting> = new.collect();
            rivals.check(&new)?;
            settings.extend(new);
        }
    }
    leave_to_preset(env, matches, &rivals, &mut settings);
    let names: Vec<String> = rivals
        .names(given)
        .chain(
            settings
                .iter()
                .filter(|s| !s.is_off())
                .map(|s| s.name.as_str()),
        )
        .map(str::to_owned)
        .collect();
    settings.retain(|setting| {
        let needed = DEPENDENT.iter().find(|(name, _)| *name == setting.name);
        needed.is_none_or(|(_, needed)| names.iter().any(|name| name == needed))
    });
    for setting in &settings {
        if COMMANDS.contains(&&*setting.name)
            && let Err(reason) = setting.origin.check_owner()
        {
            return Err(Error::Value {
                origin: setting.origin.clone(),
                reason: format!("{}: {reason}", setting.name),
            });
        }
    }
    Ok(settings)
}

/// Returns the settings of one table.
fn level(command: &clap::Command, table: &str, values: &Table) -> Result<Vec<Setting>, Error> {
    let mut settings = Vec::new();
    for arg in options(command, table) {
        let name = arg.get_long().unwrap_or_default();
        if let Some(value) = values.get(name) {
            settings.push(Setting {
                id: arg.get_id().to_string(),
                name: name.to_owned(),
                table: table.to_owned(),
                origin: value.origin.clone(),
                arguments: argument::arguments(arg, value)?,
            });
        }
    }
    Ok(settings)
}

/// Leaves out the options that a preset of `create` has, because a preset is named for each run.
fn leave_to_preset(
    env: &Env,
    matches: &ArgMatches,
    rivals: &Rivals<'_>,
    settings: &mut Vec<Setting>,
) {
    let text = |name: &str| {
        let setting = settings.iter().find(|setting| setting.name == name);
        let argument = setting.and_then(|setting| setting.arguments.first());
        let argument = argument.and_then(|argument| argument.to_str());
        argument.and_then(|argument| Some(argument.split_once('=')?.1.to_owned()))
    };
    let given = matches.try_get_one::<String>("preset").ok().flatten();
    let Some(preset) = given.cloned().or_else(|| text("preset")) else {
        return;
    };
    let file = matches.try_get_one::<PathBuf>("presets").ok().flatten();
    let file = file.cloned().or_else(|| text("presets").map(PathBuf::from));
    let keys = preset::keys(env, file.as_deref(), &preset);
    settings.retain(|setting| {
        let mut keys = keys.iter();
        !keys.any(|key| *key == setting.name || rivals.exclude(key, &setting.name))
    });
}

/// Options that exclude each other.
struct Rivals<'c> {
    command: &'c clap::Command,
}

impl Rivals<'_> {
    /// Returns the long names of options.
    fn names<'s>(&'s self, ids: &'s HashSet<String>) -> impl Iterator<Item = &'s str> {
        let options = self.command.get_arguments();
        let options = options.filter(|arg| ids.contains(arg.get_id().as_str()));
        options.filter_map(Arg::get_long)
    }

    fn find(&self, name: &str) -> Option<&Arg> {
        let mut options = self.command.get_arguments();
        options.find(|arg| arg.get_long() == Some(name))
    }

    /// Returns `true` if two options exclude each other: by a conflict, or because one is the opposite of the other.
    fn exclude(&self, one: &str, other: &str) -> bool {
        let conflict = |one: &str, other: &str| {
            let one = self.find(one);
            let rivals = one.map(|one| self.command.get_arg_conflicts_with(one));
            rivals.is_some_and(|rivals| rivals.iter().any(|arg| arg.get_long() == Some(other)))
        };
        let opposite = |one: &str, other: &str| one.strip_prefix("no-") == Some(other);
        conflict(one, other) || conflict(other, one) || opposite(one, other) || opposite(other, one)
    }

    /// Refuses settings of one table that exclude each other.
    fn check(&self, settings: &[Setting]) -> Result<(), Error> {
        let active: Vec<&Setting> = settings
            .iter()
            .filter(|setting| !setting.is_off())
            .collect();
        let mut by_name: BTreeMap<&str, &Setting> = BTreeMap::new();
        for setting in active {
            let rival = by_name
                .values()
                .find(|other| self.exclude(&setting.name, &other.name));
            if let Some(rival) = rival {
                let reason = format!(
                    "`{}` and `{}` exclude each other ({})",
                    setting.name, rival.name, rival.origin
                );
                let origin = setting.origin.clone();
                return Err(Error::Value { origin, reason });
            }
            by_name.insert(&setting.name, setting);
        }
        Ok(())
    }
}
