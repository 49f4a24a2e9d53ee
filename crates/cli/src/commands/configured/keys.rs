//! The tables, and the options that can be configured.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction, Args as _};
use hashlane_config::{Config, Error, nearest};

use crate::options::Hashing;
use crate::options::look::Look;
use crate::options::network::Network;

/// A command whose options can be configured.
#[derive(Clone, Copy)]
pub(crate) struct Configurable {
    pub(crate) name: &'static str,
    /// Adds the arguments to an empty command.
    pub(crate) define: Define,
}

impl Configurable {
    /// Returns the definition of the command alone.
    pub(crate) fn definition(self) -> clap::Command {
        (self.define)(clap::Command::new(self.name))
    }
}

/// A function of clap that adds options to a command.
type Define = fn(clap::Command) -> clap::Command;

/// Tables that several commands share, and the options in them.
const SHARED: [(&str, Define); 3] = [
    ("hashing", Hashing::augment_args),
    ("network", Network::augment_args),
    ("terminal", Look::augment_args),
];

/// Options that say what a command is to do this time: its inputs and outputs, when it ends, what it may overwrite or
/// print, how a string is damaged, and the parameters of tree hashes.
pub(crate) const ONCE: [&str; 46] = [
    "against",
    "alphabet",
    "base",
    "bitfield",
    "block-size",
    "case",
    "check",
    "chunk",
    "config",
    "content",
    "content-map",
    "data-blocks",
    "debsums",
    "dry-run",
    "errors",
    "estimate",
    "fetch",
    "force",
    "glyphs",
    "hash",
    "hash-block-size",
    "hash-device",
    "hash-offset",
    "hf",
    "idsig",
    "kind",
    "max-hashes",
    "name",
    "out-descriptor",
    "out-merkle-tree",
    "output",
    "part-size",
    "payload-len",
    "peer",
    "prefix",
    "pubkey-hash",
    "report",
    "resume",
    "root-hash",
    "salt",
    "shard",
    "show-passkey",
    "store",
    "uuid",
    "verity-format",
    "version-bytes",
];

/// An option that can hold a password.
pub(super) const PROXY: &str = "proxy";

/// The names of the tables whose keys are no options. The daemon reads them.
pub(crate) const DAEMON_TABLES: [&str; 4] = ["categories", "labels", "hooks", "schedule"];

/// The list of tables that the daemon reads besides them, as [`Config::load`] names it.
const DAEMON_LIST: &str = "[rules]";

/// Commands whose table has only options of shared tables, because the others describe one result.
const ONLY_SHARED: [&str; 1] = ["magnet"];

/// Returns `true` if the configuration can set an option.
pub(super) fn is_configurable(arg: &Arg) -> bool {
    let Some(name) = arg.get_long().filter(|_| !arg.is_positional()) else {
        return false;
    };
    let is_own = !["help", "version"].contains(&name);
    is_own && why_not(name).is_none()
}

/// Returns `true` if an option is a switch without a value.
pub(super) fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Returns the reason why the configuration cannot set an option.
fn why_not(name: &str) -> Option<String> {
    if name == PROXY {
        return Some(
            "can hold a password: write the URL to a file that only you can read, and name that file by `proxy-file`"
                .to_owned(),
        );
    }
    let is_once = ONCE.contains(&name);
    is_once.then(|| format!("can only be given on the command line, as --{name}"))
}

/// Returns the names of all tables, also of those whose keys are no options.
pub(super) fn all_tables(all: &[Configurable]) -> Vec<&'static str> {
    let mut tables = tables(all);
    tables.extend(DAEMON_TABLES);
    tables.push(DAEMON_LIST);
    tables
}

/// Returns the names of the tables of options.
fn tables(all: &[Configurable]) -> Vec<&'static str> {
    let own = all.iter().map(|command| command.name);
    own.chain(SHARED.map(|(name, _)| name)).collect()
}

/// Returns the tables that have options of a command, the one that wins first.
pub(super) fn tables_of(command: &clap::Command) -> Vec<&str> {
    let own = [command.get_name()].into_iter();
    own.chain(SHARED.map(|(name, _)| name)).collect()
}

/// Returns the options of a command that a table can set.
pub(super) fn options<'c>(command: &'c clap::Command, table: &str) -> Vec<&'c Arg> {
    let options = options_of(command);
    let shared = SHARED.iter().find(|(name, _)| *name == table);
    match shared {
        None if command.get_name() == table => options,
        None => Vec::new(),
        Some((_, define)) => {
            let shared = define(clap::Command::new(""));
            let is_shared = |arg: &&Arg| is_option_of(&shared, arg);
            options.into_iter().filter(is_shared).collect()
        }
    }
}

/// Returns the options of a command that the configuration can set.
pub(crate) fn options_of(command: &clap::Command) -> Vec<&Arg> {
    let options = command.get_arguments().filter(|arg| is_configurable(arg));
    if !ONLY_SHARED.contains(&command.get_name()) {
        return options.collect();
    }
    let shared = SHARED.map(|(_, define)| define(clap::Command::new("")));
    let is_shared = |arg: &&Arg| shared.iter().any(|shared| is_option_of(shared, arg));
    options.filter(is_shared).collect()
}

/// Returns `true` if a definition has this option, not only another one with the same name.
fn is_option_of(definition: &clap::Command, arg: &Arg) -> bool {
    let mut options = definition.get_arguments();
    options.any(|other| other.get_id() == arg.get_id() && other.get_help() == arg.get_help())
}

/// Returns the keys of a table.
fn keys(table: &str, all: &[Configurable]) -> BTreeSet<String> {
    let shared = SHARED.iter().find(|(name, _)| *name == table);
    let definition = match shared {
        Some((_, define)) => define(clap::Command::new("")),
        None => match all.iter().find(|command| command.name == table) {
            Some(command) => command.definition(),
            None => return BTreeSet::new(),
        },
    };
    let options = options_of(&definition).into_iter();
    let names = options.filter_map(Arg::get_long);
    names.map(str::to_owned).collect()
}

/// A key of the configuration: an option, in a table that has it.
#[derive(Clone, Debug)]
pub struct ConfigurationKey {
    /// The table: that of one command, or one that several commands share.
    pub table: &'static str,
    /// The commands that read the key.
    pub commands: Vec<&'static str>,
    /// The option, whose long name is the key.
    pub option: Arg,
}

/// Returns the keys of all tables. A table of a command has the keys of the shared tables too, which are left out there.
pub(crate) fn all_keys(all: &[Configurable]) -> Vec<ConfigurationKey> {
    let definitions: Vec<clap::Command> = all.iter().map(|it| it.definition()).collect();
    let mut keys: Vec<ConfigurationKey> = Vec::new();
    for table in tables(all) {
        let first = keys.len();
        for (command, definition) in all.iter().zip(&definitions) {
            for option in options(definition, table) {
                let shared = SHARED.map(|(name, _)| name);
                let is_shared = |name| options(definition, name).contains(&option);
                if !shared.contains(&table) && shared.into_iter().any(is_shared) {
                    continue;
                }
                let known = keys.iter_mut().skip(first);
                let mut known = known.filter(|key| key.option.get_long() == option.get_long());
                match known.next() {
                    Some(key) => key.commands.push(command.name),
                    None => keys.push(ConfigurationKey {
                        table,
                        commands: [command.name]
                            .into_iter()
                            .chain(finders(table, option))
                            .collect(),
                        option: option.clone(),
                    }),
                }
            }
        }
        keys[first..].sort_by(|a, b| a.option.get_long().cmp(&b.option.get_long()));
    }
    keys
}

/// Returns the commands that find the daemon by an option of the daemon.
fn finders(table: &str, option: &Arg) -> Vec<&'static str> {
    match (table, option.get_long()) {
        ("daemon", Some("state-dir")) => vec!["ctl", "import"],
        _ => Vec::new(),
    }
}

/// Refuses unknown keys in all tables.
pub(super) fn check(config: &Config, all: &[Configurable]) -> Result<(), Error> {
    let tables = tables(all);
    for (layer, table) in config
        .layers()
        .iter()
        .flat_map(|layer| tables.iter().map(move |table| (layer, *table)))
    {
        let Some(values) = layer.table(table) else {
            continue;
        };
        let known_here = keys(table, all);
        let unknown = values.iter().find(|(key, _)| !known_here.contains(*key));
        let Some((key, value)) = unknown else {
            continue;
        };
        // Shared tables are named first.
        let others = tables.iter().rev().filter(|other| **other != table);
        let place = others.copied().find(|other| keys(other, all).contains(key));
        let reason = if let Some(reason) = why_not(key) {
            format!("`{key}` {reason}")
        } else if let Some(nearest) = nearest(key, known_here.iter().map(String::as_str)) {
            format!("unknown key `{key}` in [{table}]; did you mean `{nearest}`?")
        } else if let Some(place) = place {
            format!("unknown key `{key}` in [{table}]; [{place}] has it")
        } else {
            let keys: Vec<&str> = known_here.iter().map(String::as_str).collect();
            format!(
                "unknown key `{key}` in [{table}]; its keys are {}",
                keys.join(", ")
            )
        };
        let origin = value.origin.clone();
        return Err(Error::Value { origin, reason });
    }
    Ok(())
}
