//! The places of the files, and the variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// The start of the names of all variables.
pub(crate) const PREFIX: &str = "HASHLANE_";

/// The variable that names a file to read instead of the others, as `--config` does.
const FILE_VARIABLE: &str = "HASHLANE_CONFIG";

/// The file of all users of the machine.
#[cfg(unix)]
const SYSTEM_FILE: &str = "/etc/hashlane/config.toml";

/// The files and variables that a configuration is read from. The default has none.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The only file to read, which must exist. The other two are then ignored.
    pub file: Option<PathBuf>,
    /// The file of the user, if it exists.
    pub user: Option<PathBuf>,
    /// The file of all users, if it exists.
    pub system: Option<PathBuf>,
    /// The home folder of the user, which `~` stands for.
    pub home: Option<PathBuf>,
    /// Names and values of environment variables. Those with other names than `HASHLANE_...` are ignored.
    pub variables: Vec<(OsString, OsString)>,
}

impl Sources {
    /// Returns the sources of this process. The user's file is `hashlane/config.toml` in `$XDG_CONFIG_HOME`, or else in
    /// `~/.config`. Relative folders are ignored, as the XDG Base Directory Specification says.
    pub fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = |name| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let configs = folder("XDG_CONFIG_HOME");
        #[cfg(windows)]
        let configs = configs.or_else(|| folder("APPDATA"));
        let configs = configs.or_else(|| Some(home.as_ref()?.join(".config")));
        let is_ours = |(name, value): &(OsString, OsString)| {
            name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) && !value.is_empty()
        };
        Self {
            file: variable(FILE_VARIABLE).map(PathBuf::from),
            user: configs.map(|folder| folder.join("hashlane/config.toml")),
            #[cfg(unix)]
            system: Some(SYSTEM_FILE.into()),
            #[cfg(not(unix))]
            system: None,
            home,
            variables: std::env::vars_os().filter(is_ours).collect(),
        }
    }

    /// Returns the files to read, the strongest first. Each may be absent, unless the only file was named.
    pub fn files(&self) -> Vec<&PathBuf> {
        match &self.file {
            Some(file) => vec![file],
            None => self.user.iter().chain(&self.system).collect(),
        }
    }
}
