//! The values of options, before they are printed.

use std::path::PathBuf;

use hashlane_config::Origin;

/// The value of an option.
pub(super) struct OptionValue {
    pub(super) name: String,
    /// The texts of the value: several for an option that can be repeated, none if the option is not set.
    pub(super) values: Vec<String>,
    pub(super) kind: Kind,
    pub(super) source: Source,
}

/// A table of the daemon whose keys are no options.
pub(super) struct TableValues {
    /// The names of the tables that lead to it, joined by dots as in TOML.
    pub(super) path: String,
    pub(super) values: Vec<OptionValue>,
}

/// The form of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    One,
    List,
}

/// The place where a value comes from.
pub(super) enum Source {
    Default,
    CommandLine,
    Config {
        origin: Origin,
        table: Option<String>,
    },
}

/// A file of the configuration.
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) state: PlaceState,
}

/// What a file of the configuration contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceState {
    Read,
    Absent,
    /// A device, such as `/dev/null`, which stands for no file.
    Empty,
}
