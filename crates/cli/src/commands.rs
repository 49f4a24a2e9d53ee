//! The command line that clap parses. Each command has its own file, with its arguments and its `run`.

#[cfg(unix)]
mod archive;
mod bag;
mod call;
mod completions;
mod config;
mod configured;
pub(crate) mod coreutils;
mod create;
#[cfg(unix)]
pub(crate) mod ctl;
pub(crate) mod daemon;
pub(crate) mod digest;
mod edit;
mod find;
pub(crate) mod get;
mod getopt;
mod git;
mod import;
#[cfg(feature = "schema")]
mod json_schemas;
mod kernels;
pub(crate) mod magnet;
mod man;
pub(crate) mod par2;
mod recover;
pub(crate) mod seed;
mod show;
mod sum;
mod verify;

#[cfg(unix)]
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::documentation;
use crate::options::look;
use crate::output::stream::AfterFailure;
#[cfg(unix)]
use crate::tables::Tables;
use crate::{Env, Exit, NetworkCommands};

pub use configured::ConfigurationKey;
use configured::{Configurable, Line};
#[cfg(feature = "schema")]
pub use json_schemas::json_lines;

/// Returns the end of the program's help.
fn after_help() -> String {
    AFTER_HELP.replace("CONFIGURATION", &documentation::page("config"))
}

const AFTER_HELP: &str = "\
Programs of Solaris, also called by a link of their name:
  digest  prints digests of files; see `hashlane digest --help`
  mac     prints or checks HMACs of files; see `hashlane mac --help`

Configuration:
  Options are read from the file of --config or HASHLANE_CONFIG, or else from
  ~/.config/hashlane/config.toml and /etc/hashlane/config.toml. `hashlane config`
  shows the values in force. The files are described in
  CONFIGURATION.

Environment:
  HASHLANE_BACKEND  name of the only hash backend to use; `hashlane kernels` lists the names
  HASHLANE_CONFIG   configuration file to read instead of the other two
  HASHLANE_GET_DIR  an option of a command, here --dir of `get`
  HASHLANE_PROXY    URL of a proxy for `get`, `seed` and `magnet --fetch`; see --proxy
  NO_COLOR          disables colours if it is set and not empty; so does CLICOLOR=0
  CLICOLOR_FORCE    colours results that do not go to a terminal";

/// Verifies, creates, downloads and seeds torrents, and hashes and checks files
#[derive(Debug, Parser)]
#[command(
    name = "hashlane",
    // Also in the program `hashlane-net`.
    bin_name = "hashlane",
    version,
    long_version = kernels::long_version(),
    after_help = after_help(),
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[arg(skip)]
    pub(crate) look: look::Chosen,
}

/// The reason why no command is run.
#[derive(Debug)]
pub(crate) enum UsageError {
    /// The arguments are invalid, or ask for help.
    Arguments(clap::Error),
    /// The configuration is invalid.
    Config(hashlane_config::Error),
}

/// The commands whose options can be configured.
const CONFIGURABLE: [Configurable; 8] = [
    configurable::<verify::Verify>("verify"),
    configurable::<sum::Sum>("sum"),
    configurable::<create::Create>("create"),
    configurable::<get::Get>("get"),
    configurable::<seed::Seed>("seed"),
    configurable::<daemon::Daemon>("daemon"),
    configurable::<magnet::Magnet>("magnet"),
    configurable::<recover::Recover>("recover"),
];

/// Returns the keys of the configuration that are options, in the order of their tables and names.
pub fn configuration_keys() -> Vec<ConfigurationKey> {
    configured::all_keys(&CONFIGURABLE)
}

/// The settings of the daemon, from its command line, the files and the variables.
#[cfg(unix)]
#[derive(Debug)]
pub struct DaemonSettings {
    /// The options of the command line, of files and of variables.
    pub options: daemon::Daemon,
    /// The tables of the configuration whose keys are no options.
    pub tables: Tables,
    /// The values of the options that the configuration can set, by their long names.
    values: BTreeMap<String, Vec<OsString>>,
}

#[cfg(unix)]
impl DaemonSettings {
    /// Reads the settings. A daemon that runs calls this again to find what has changed.
    ///
    /// # Errors
    /// The configuration is invalid, or another user can change a file with hooks. The error names the file, the line and
    /// the reason.
    pub fn read(env: &Env) -> anyhow::Result<Self> {
        let args = env.args.clone();
        let mut line = Line::parse(
            configurable::<daemon::Daemon>("daemon"),
            args,
            env,
            &CONFIGURABLE,
        )?;
        let values = line.values("daemon");
        let words = |error: &clap::Error| anyhow::anyhow!("{}", crate::clap_text::words(error));
        let mut matches = line.result.map_err(|error| words(&error))?;
        let (_, mut matches) = matches.remove_subcommand().unwrap_or_default();
        let options = daemon::Daemon::from_arg_matches_mut(&mut matches);
        let options = options.map_err(|error| words(&error.format(&mut line.definition)))?;
        let config = configured::load(env, options.config.config.as_ref(), &CONFIGURABLE)?;
        Ok(Self {
            tables: Tables::of(&config)?,
            options,
            values,
        })
    }

    /// Returns the long names of the options whose values differ, in alphabetical order.
    pub fn changed(&self, other: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.values.keys().chain(other.values.keys()).collect();
        let changed = names
            .into_iter()
            .filter(|name| self.values.get(*name) != other.values.get(*name));
        changed.cloned().collect()
    }
}

const fn configurable<A: Args>(name: &'static str) -> Configurable {
    Configurable {
        name,
        define: A::augment_args,
    }
}

impl Cli {
    /// Parses the arguments of a process, and adds the options of the configuration. Only the definition of the command is
    /// built: all definitions together take longer than the digest of a small file.
    pub(crate) fn of_args(env: &Env) -> Result<Self, UsageError> {
        match env.args.get(1).and_then(|name| name.to_str()) {
            Some("verify") => Self::of_configurable(env, "verify", Command::Verify),
            Some("sum") => Self::of_configurable(env, "sum", Command::Sum),
            Some("create") => Self::of_configurable(env, "create", Command::Create),
            Some("get") => Self::of_configurable(env, "get", Command::Get),
            Some("seed") => Self::of_configurable(env, "seed", Command::Seed),
            Some("daemon") => Self::of_configurable(env, "daemon", Command::Daemon),
            Some("magnet") => Self::of_configurable(env, "magnet", Command::Magnet),
            Some("recover") => Self::of_configurable(env, "recover", Command::Recover),
            Some("show") => Self::of_one(&env.args, "show", Command::Show),
            Some("edit") => Self::of_one(&env.args, "edit", Command::Edit),
            Some("kernels") => Self::of_one(&env.args, "kernels", Command::Kernels),
            _ => Self::of_any(env).map_err(UsageError::Arguments),
        }
    }

    /// Parses the arguments of the command with this name, which the configuration can have options of.
    fn of_configurable<A: Args>(
        env: &Env,
        name: &'static str,
        command: fn(A) -> Command,
    ) -> Result<Self, UsageError> {
        let args = env.args.clone();
        let line = Line::parse(configurable::<A>(name), args, env, &CONFIGURABLE);
        let line = line.map_err(UsageError::Config)?;
        let mut definition = line.definition;
        let parsed = line
            .result
            .and_then(|matches| Self::of_matches(&mut definition, matches, command));
        parsed.map_err(UsageError::Arguments)
    }

    /// Parses the arguments of any command.
    fn of_any(env: &Env) -> Result<Self, clap::Error> {
        let mut definition = Self::command();
        let mut matches = definition.try_get_matches_from_mut(&env.args)?;
        let look = matches
            .subcommand()
            .map(|(_, matches)| look::Chosen::of(matches));
        let parsed = Self::from_arg_matches_mut(&mut matches);
        let parsed = parsed.map_err(|error| error.format(&mut definition))?;
        Ok(Self {
            look: look.unwrap_or_default(),
            ..parsed
        })
    }

    /// Parses the arguments of the command with this name.
    fn of_one<A: Args>(
        args: &[OsString],
        name: &'static str,
        command: fn(A) -> Command,
    ) -> Result<Self, UsageError> {
        let mut definition = configured::program(A::augment_args(clap::Command::new(name)));
        let parsed = definition
            .try_get_matches_from_mut(args)
            .and_then(|matches| Self::of_matches(&mut definition, matches, command));
        parsed.map_err(UsageError::Arguments)
    }

    fn of_matches<A: Args>(
        definition: &mut clap::Command,
        mut matches: ArgMatches,
        command: fn(A) -> Command,
    ) -> Result<Self, clap::Error> {
        // The program requires a command.
        let (_, mut matches) = matches.remove_subcommand().unwrap_or_default();
        let look = look::Chosen::of(&matches);
        let options = A::from_arg_matches_mut(&mut matches);
        let options = options.map_err(|error| error.format(definition))?;
        Ok(Self {
            command: command(options),
            look,
        })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Verify(verify::Verify),
    Find(find::Find),
    Sum(sum::Sum),
    #[cfg(unix)]
    Archive(archive::Archive),
    Bag(bag::Bag),
    Par2(par2::Par2),
    Git(git::Git),
    Create(create::Create),
    Show(show::Show),
    Magnet(magnet::Magnet),
    Edit(edit::Edit),
    Get(get::Get),
    Seed(seed::Seed),
    Daemon(daemon::Daemon),
    #[cfg(unix)]
    Ctl(ctl::Ctl),
    Import(import::Import),
    Recover(recover::Recover),
    Kernels(kernels::Kernels),
    Config(config::ShowConfig),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Returns what the command does after its results could not be written.
    pub(crate) fn after_failed_output(&self) -> AfterFailure {
        match self {
            Self::Get(_) | Self::Seed(_) | Self::Daemon(_) | Self::Recover(_) => AfterFailure::Stop,
            Self::Magnet(magnet) => magnet.after_failed_output(),
            Self::Sum(sum) => sum.after_failed_output(),
            _ => AfterFailure::Continue,
        }
    }

    pub(crate) fn run(self, env: &mut Env, network: &dyn NetworkCommands) -> anyhow::Result<Exit> {
        match self {
            Self::Verify(verify) => verify.run(env),
            Self::Find(find) => find.run(env),
            Self::Sum(sum) => sum.run(env),
            #[cfg(unix)]
            Self::Archive(archive) => archive.run(env),
            Self::Bag(bag) => bag.run(env),
            Self::Par2(par2) => par2.run(env),
            Self::Git(git) => git.run(env),
            Self::Create(create) => create.run(env),
            Self::Show(show) => show.run(env),
            Self::Magnet(magnet) if magnet.is_fetch() => network.fetch(env, magnet),
            Self::Magnet(magnet) => magnet.run(env),
            Self::Edit(edit) => edit.run(env),
            Self::Get(get) => network.get(env, get),
            Self::Seed(seed) => network.seed(env, seed),
            Self::Daemon(daemon) => network.daemon(env, daemon),
            #[cfg(unix)]
            Self::Ctl(ctl) => ctl.run(env, &CONFIGURABLE),
            Self::Import(import) => import.run(env, &CONFIGURABLE),
            Self::Recover(recover) if recover.needs_another_program() => {
                network.recover_on_device(env, recover.device())
            }
            Self::Recover(recover) => recover.run(env),
            Self::Kernels(kernels) => kernels.run(env),
            Self::Config(config) => config.run(env, &CONFIGURABLE),
            Self::Completions(completions) => completions.run(env, Cli::command(), &CONFIGURABLE),
            Self::Man(man) => man.run(env, Cli::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::error::ErrorKind;

    use super::*;

    /// The letter of each option, the same in every command.
    const LETTERS: [(char, &str); 22] = [
        // The algorithm of `sum`, with the letter that other tools use.
        ('a', "algorithm"),
        ('a', "announce"),
        ('c', "comment"),
        // As in `sha256sum`.
        ('c', "check"),
        ('d', "dir"),
        ('e', "errors"),
        ('f', "force"),
        ('g', "glyphs"),
        ('j', "threads"),
        ('k', "kind"),
        ('l', "piece-length"),
        ('n', "name"),
        ('o', "output"),
        ('p', "private"),
        ('q', "quiet"),
        ('r', "recursive"),
        ('s', "source"),
        ('t', "threads"),
        ('v', "verbose"),
        ('w', "web-seed"),
        ('x', "exclude"),
        ('y', "yes"),
    ];

    fn each_option(check: impl Fn(&clap::Command, &clap::Arg)) {
        let command_line = Cli::command();
        for command in command_line.get_subcommands() {
            for option in command.get_arguments().filter(|arg| !arg.is_positional()) {
                check(command, option);
            }
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn one_definition_parses_as_all_definitions() {
        for line in [
            "verify",
            "verify -h",
            "verify --help",
            "verify --jsn a.torrent",
            "verify a.torrent --threads 0",
            "verify a.torrent -d good",
            "sum --help",
            "sum --algorithm nothing",
            "sum -V",
            "sum a help",
            "sum",
            "create",
            "create --help",
            "create -a http://t.example/announce a",
            "create a --piece-length nothing",
            "show --jsn a.torrent",
            "show a.torrent b.torrent",
            "magnet -h",
            "magnet a.torrent",
            "edit -p=x a.torrent",
            "edit a.torrent",
            "import deluge folder --dry-run",
            "recover",
            "recover --case kept 1Lbcfr7sAHTD9CgdQo3HTM",
            "recover --max-time soon 1Lbcfr7sAHTD9CgdQo3HTM",
            "get a.torrent -d there",
            "get",
            "seed a.torrent --log-level debug",
            "kernels --json",
            "kernels more",
        ] {
            let args = std::iter::once("hashlane").chain(line.split(' '));
            let env = Env::without_terminal(args, "".into());
            let text = |parsed: Result<Cli, UsageError>| match parsed {
                Ok(parsed) => format!("{parsed:?}"),
                Err(UsageError::Arguments(error)) => error.render().ansi().to_string(),
                Err(UsageError::Config(error)) => panic!("{error}"),
            };
            let all = Cli::try_parse_from(&env.args).map_err(UsageError::Arguments);
            assert_eq!(text(Cli::of_args(&env)), text(all), "{line}");
        }
    }

    /// The help lists every name that works, such as `-j`, which is that of make. Only scripts of completions use another one.
    #[test]
    fn no_option_or_value_has_a_hidden_name() {
        fn check(command: &clap::Command) {
            let name = command.get_name();
            for arg in command.get_arguments() {
                let id = arg.get_id();
                let listed = arg.get_visible_aliases().unwrap_or_default();
                assert_eq!(
                    arg.get_all_aliases().unwrap_or_default(),
                    listed,
                    "{name} {id}"
                );
                let listed = arg.get_visible_short_aliases().unwrap_or_default();
                assert_eq!(
                    arg.get_all_short_aliases().unwrap_or_default(),
                    listed,
                    "{name} {id}"
                );
                for value in arg.get_possible_values() {
                    assert_eq!(value.get_name_and_aliases().count(), 1, "{name} {id}");
                }
                let is_of_scripts = (name, id.as_str()) == ("completions", "values");
                assert!(!arg.is_hide_set() || is_of_scripts, "{name} {id}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    /// Options are hard to find among twenty without headings.
    #[test]
    fn commands_with_many_options_have_headings() {
        const HEADINGS: [&str; 25] = [
            "Arguments",
            "Changes",
            "Check",
            "Content",
            "Cost",
            "Damage",
            "Download",
            "Duplicates",
            "Fetching",
            "Files",
            "Goal",
            "Hashing",
            "Kinds",
            "Known facts",
            "Limits",
            "Link",
            "Links",
            "Log",
            "Network",
            "Output",
            "Page",
            "Queue",
            "Repair",
            "Seeding",
            "Torrent",
        ];
        const OTHERS: [&str; 3] = ["Parts of a search", "Remote control", "Tree hashes"];
        let check = |command: &clap::Command| {
            let name = command.get_name();
            let options = command.get_arguments();
            let options = options.filter(|arg| !arg.is_positional() && !arg.is_hide_set());
            let options: Vec<&clap::Arg> = options.collect();
            for heading in options.iter().filter_map(|arg| arg.get_help_heading()) {
                let is_known = HEADINGS.contains(&heading) || OTHERS.contains(&heading);
                assert!(is_known, "{name}: {heading}");
            }
            let n_without = options
                .iter()
                .filter(|arg| arg.get_help_heading().is_none());
            assert!(options.len() <= 10 || n_without.count() <= 4, "{name}");
        };
        for command in Cli::command().get_subcommands() {
            check(command);
            command.get_subcommands().for_each(check);
        }
    }

    /// An installed program has no folder `docs`.
    #[test]
    fn help_names_no_files_of_the_source() {
        let mut program = Cli::command();
        program.build();
        let mut texts = vec![program.render_long_help().to_string()];
        for command in program.get_subcommands_mut() {
            texts.push(command.render_long_help().to_string());
            for command in command.get_subcommands_mut() {
                texts.push(command.render_long_help().to_string());
            }
        }
        for text in texts {
            let line = text
                .lines()
                .find(|line| line.contains("docs/reference") || line.contains(".md"));
            assert_eq!(line, None);
        }
    }

    #[test]
    fn web_seeds_are_chosen() {
        for (line, expected) in [
            ("get a", None),
            ("get a --web-seeds", Some(true)),
            ("get a --web-seeds=0", Some(false)),
        ] {
            let args = std::iter::once("hashlane").chain(line.split(' '));
            let Command::Get(get) = Cli::try_parse_from(args).unwrap().command else {
                panic!("{line}");
            };
            assert_eq!(get.client.network.web_seeds, expected, "{line}");
        }
    }

    #[test]
    fn a_letter_means_one_thing_everywhere() {
        each_option(|command, option| {
            let names = option.get_long_and_visible_aliases().unwrap_or_default();
            for letter in option.get_short_and_visible_aliases().unwrap_or_default() {
                let meanings = LETTERS.iter().filter(|(known, _)| *known == letter);
                let is_known = meanings.into_iter().any(|(_, name)| names.contains(name));
                assert!(is_known, "{} -{letter}: {names:?}", command.get_name());
            }
        });
    }

    #[test]
    fn an_option_has_its_letter_everywhere() {
        each_option(|command, option| {
            let letters = option.get_short_and_visible_aliases().unwrap_or_default();
            for name in option.get_long_and_visible_aliases().unwrap_or_default() {
                let letter = LETTERS.iter().find(|(_, known)| *known == name);
                if let Some((letter, _)) = letter {
                    assert!(letters.contains(letter), "{} --{name}", command.get_name());
                }
            }
        });
    }

    #[test]
    fn every_command_with_a_result_prints_json() {
        // These two commands print a script and a page.
        let others = ["completions", "man"];
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let has = |command: &clap::Command| {
                let mut arguments = command.get_arguments();
                arguments.any(|arg| arg.get_id() == "json")
            };
            let mut actions = command.get_subcommands();
            let has_json = has(command) || command.has_subcommands() && actions.all(has);
            assert_eq!(has_json, !others.contains(&name), "{name}");
        }
    }

    /// Splits a command line at spaces outside quotes, and drops its comment.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut in_quotes) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '\'' => in_quotes = !in_quotes,
                '#' if !in_quotes && word.is_empty() => break,
                ' ' if !in_quotes => words.push(std::mem::take(&mut word)),
                c => word.push(c),
            }
        }
        words.push(word);
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn the_command_line_accepts_the_examples_of_readme_and_guides() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![root.join("docs")];
        let mut pages = vec![root.join("README.md")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    pages.push(path);
                }
            }
        }
        let pages: Vec<_> = pages
            .iter()
            .map(|page| fs::read_to_string(page).unwrap())
            .collect();
        let lines = pages.iter().flat_map(|page| page.lines());
        let examples = lines.filter_map(|line| line.strip_prefix("$ "));
        let examples: Vec<_> = examples
            .filter(|line| line.starts_with("hashlane "))
            // `digest` and `mac` are separate programs with their own options.
            .filter(|line| !["digest", "mac"].contains(&line.split(' ').nth(1).unwrap_or("")))
            // So are those of coreutils.
            .filter(|line| {
                let words: Vec<OsString> = words(line).into_iter().map(OsString::from).collect();
                coreutils::Program::called_by(&words).is_none()
            })
            .collect();
        assert!(examples.len() > 20, "the pages have examples");
        for example in examples {
            match Cli::try_parse_from(words(example)) {
                Err(error) if error.kind() != ErrorKind::DisplayVersion => {
                    panic!("{example}: {error}")
                }
                _ => {}
            }
        }
    }

    /// clap does not wrap the lines of examples and tables, and many terminals have 80 columns.
    #[test]
    fn tables_of_the_help_fit_into_80_columns() {
        for command in Cli::command().get_subcommands() {
            let Some(text) = command.get_after_help() else {
                continue;
            };
            for line in text.to_string().lines() {
                let name = command.get_name();
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }
}
