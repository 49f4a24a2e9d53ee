//! `hashlane config`: the values of options, and where they come from.

mod human;
mod json;
mod option_value;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args};
use hashlane_config::{Config, Data, Origin, Table};
use hashlane_metainfo::masked_text;

use super::configured::{Configurable, DAEMON_TABLES, Line, load, options_of, sources};
use crate::options::network::PROXY_VARIABLE;
use crate::options::{ConfigFile, Json};
#[cfg(unix)]
use crate::tables::Tables;
use crate::{Env, Exit};

use option_value::{Kind, OptionValue, Place, PlaceState, Source, TableValues};

const AFTER_HELP: &str = "\
Examples:
  hashlane config                          all options of all commands
  hashlane config get --max-down 1MiB      what `get --max-down 1MiB` would use
  $EDITOR \"$(hashlane config --path)\"      edits the file of the user

Exit status:
  0  the configuration is valid
  2  an error: an invalid configuration, or wrong usage";

/// Show the values of options, and whether each comes from a file, a variable, the command line or a default
///
/// The output is a valid configuration, with defaults as comments. Passwords and passkeys are shown as `***`. All values
/// in all tables are checked.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ShowConfig {
    /// Command whose options are shown, and its arguments [default: all commands]
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
    line: Vec<OsString>,

    /// Print only the path of the user's file, or of the file that replaces it. The file need not exist
    #[arg(long, conflicts_with_all = ["line", "json"])]
    path: bool,

    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    form: Json,
}

impl ShowConfig {
    pub(crate) fn run(self, env: &mut Env, all: &[Configurable]) -> anyhow::Result<Exit> {
        let file = self.file.config.as_ref();
        let sources = sources(env, file);
        if self.path {
            let path = sources
                .files()
                .first()
                .map(|path| path.display().to_string());
            let path = path.context("neither XDG_CONFIG_HOME nor HOME is an absolute path")?;
            writeln!(env.stdout, "{path}")?;
            return Ok(Exit::Good);
        }
        let config = load(env, file, all)?;
        // Other systems have no daemon that would read them.
        #[cfg(unix)]
        Tables::of(&config)?;
        let read = config
            .layers()
            .iter()
            .filter_map(|layer| layer.file.as_ref());
        let read: Vec<PathBuf> = read.map(|file| file.path().to_owned()).collect();
        let places = sources.files().into_iter().map(|path| Place {
            path: path.clone(),
            state: match read.contains(path) {
                true if path.is_file() => PlaceState::Read,
                true => PlaceState::Empty,
                false => PlaceState::Absent,
            },
        });
        let places: Vec<Place> = places.collect();
        // All values are checked, also those of the commands that are not shown.
        let mut lines = Vec::new();
        for command in all {
            lines.push((command.name, self.options_of(*command, &[], env, all)?));
        }
        if let Some((name, args)) = self.line.split_first() {
            let command = all.iter().find(|command| *name == *command.name);
            let Some(command) = command else {
                let names: Vec<&str> = all.iter().map(|command| command.name).collect();
                let (name, names) = (name.display(), names.join(", "));
                bail!("{name}: not a command with a configuration; these are {names}");
            };
            lines = vec![(command.name, self.options_of(*command, args, env, all)?)];
        }
        let is_shown = self.line.first().is_none_or(|name| name == DAEMON);
        let tables = if is_shown {
            daemon_tables(&config)
        } else {
            Vec::new()
        };
        if self.form.json {
            json::print(env, &places, &lines, &tables)?;
        } else {
            human::print(env, &places, &lines, &tables)?;
        }
        Ok(Exit::Good)
    }

    /// Returns the values of a command's options with these arguments.
    fn options_of(
        &self,
        command: Configurable,
        args: &[OsString],
        env: &Env,
        all: &[Configurable],
    ) -> anyhow::Result<Vec<OptionValue>> {
        let mut line: Vec<OsString> = vec!["hashlane".into(), command.name.into()];
        if let Some(file) = &self.file.config {
            let mut option = OsString::from("--config=");
            option.push(file);
            line.push(option);
        }
        line.extend(args.iter().cloned());
        let line = Line::parse(command, line, env, all)?;
        let matches = match &line.result {
            Ok(matches) => matches.clone(),
            // A command without its inputs.
            Err(error) if error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
                line.lenient()
            }
            Err(error) => bail!("{}", crate::clap_text::words(error)),
        };
        let matches = matches.subcommand_matches(command.name);
        let definition = line.definition.find_subcommand(command.name);
        let (Some(matches), Some(definition)) = (matches, definition) else {
            bail!("{}: the arguments are invalid", command.name);
        };
        let options = options_of(definition).into_iter();
        let mut shown: Vec<OptionValue> =
            options.map(|arg| value_of(arg, matches, &line)).collect();
        shown.extend(proxy_variable(definition, env));
        shown.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(shown)
    }
}

/// The command whose tables have any number of entries.
const DAEMON: &str = "daemon";

/// Returns the daemon's tables whose keys are no options, by their paths.
fn daemon_tables(config: &Config) -> Vec<TableValues> {
    let mut shown = Vec::new();
    for name in DAEMON_TABLES {
        add_tables(&mut shown, name, &config.merged(name));
    }
    for rule in config.items("rules") {
        if let Data::Table(table) = &rule.data {
            add_tables(&mut shown, "[rules]", table);
        }
    }
    shown
}

/// Adds the values of a table, and then the tables in it.
fn add_tables(shown: &mut Vec<TableValues>, path: &str, table: &Table) {
    let values = table.iter().filter_map(|(key, value)| {
        let (kind, values) = match &value.data {
            Data::Table(_) => return None,
            Data::Array(items) => (
                Kind::List,
                items.iter().map(|item| text(&item.data)).collect(),
            ),
            Data::Bool(_) => (Kind::Switch, vec![text(&value.data)]),
            data => (Kind::One, vec![text(data)]),
        };
        Some(OptionValue {
            name: key.clone(),
            values,
            kind,
            source: Source::Config {
                origin: value.origin.clone(),
                table: Some(path.to_owned()),
            },
        })
    });
    let values: Vec<OptionValue> = values.collect();
    let tables = table.iter().filter_map(|(key, value)| match &value.data {
        Data::Table(table) => Some((key, table)),
        _ => None,
    });
    let tables: Vec<_> = tables.collect();
    // A table that only holds others has no lines of its own, unless it begins an item of a list.
    let is_item = path.starts_with('[');
    if !values.is_empty() || tables.is_empty() && path.contains('.') || is_item {
        shown.push(TableValues {
            path: path.to_owned(),
            values,
        });
    }
    let path = path.trim_matches(['[', ']']);
    for (key, table) in tables {
        add_tables(shown, &format!("{path}.{}", human::key(key)), table);
    }
}

/// Returns a value without secrets.
fn text(data: &Data) -> String {
    masked_text(&match data {
        Data::String(text) | Data::Datetime(text) => text.clone(),
        Data::Integer(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::Variable(text) => text.to_string_lossy().into_owned(),
        // The daemon has no such values, and `Tables::of` has refused them.
        Data::Array(_) | Data::Table(_) => String::new(),
    })
}

/// Returns the value of an option, as the command takes it from the parsed arguments.
fn value_of(arg: &Arg, matches: &ArgMatches, line: &Line) -> OptionValue {
    let id = arg.get_id().as_str();
    let setting = line.settings.iter().find(|setting| setting.id == id);
    let kind = match arg.get_action() {
        ArgAction::SetTrue => Kind::Switch,
        ArgAction::Append => Kind::List,
        // A switch that can be turned off.
        _ if arg.is_require_equals_set() => Kind::Switch,
        _ => Kind::One,
    };
    let raw = matches.get_raw(id).into_iter().flatten();
    let values = raw.map(|value| masked_text(&value.to_string_lossy()));
    let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
    let source = match setting {
        Some(setting) if !line.given.contains(id) => Source::Config {
            origin: setting.origin.clone(),
            table: Some(setting.table.clone()),
        },
        _ if is_given => Source::CommandLine,
        _ => Source::Default,
    };
    OptionValue {
        name: arg.get_long().unwrap_or_default().to_owned(),
        values: values.collect(),
        kind,
        source,
    }
}

/// Returns the proxy of the variable, which holds the URL itself.
fn proxy_variable(command: &clap::Command, env: &Env) -> Option<OptionValue> {
    let is_set = env
        .config
        .variables
        .iter()
        .any(|(name, _)| name == PROXY_VARIABLE);
    let mut options = command.get_arguments();
    let has_proxy = options.any(|arg| arg.get_long() == Some("proxy"));
    (is_set && has_proxy).then(|| OptionValue {
        name: "proxy".to_owned(),
        values: vec!["***".to_owned()],
        kind: Kind::One,
        source: Source::Config {
            origin: Origin::Variable(PROXY_VARIABLE.into()),
            table: None,
        },
    })
}
