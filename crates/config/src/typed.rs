//! Types whose meaning depends on the origin of the value.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Visitor};

/// The names by which the deserializer of this crate recognises the types.
pub(crate) const FILE_PATH: &str = "hashlane-config::FilePath";
pub(crate) const SHELL_COMMAND: &str = "hashlane-config::ShellCommand";

/// A path. In a file, `~/` is the user's home folder, and other relative paths start at the folder of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(PathBuf);

impl AsRef<Path> for FilePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl From<FilePath> for PathBuf {
    fn from(path: FilePath) -> Self {
        path.0
    }
}

/// A shell command. Only the user and the superuser may be able to write to a file with a command: see
/// [`ConfigFile::check_owner`](crate::ConfigFile::check_owner).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand(String);

impl ShellCommand {
    /// Returns the command.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_newtype_struct(FILE_PATH, Text("a path"))?;
        Ok(Self(text.into()))
    }
}

impl<'de> Deserialize<'de> for ShellCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text("a shell command");
        let command = deserializer.deserialize_newtype_struct(SHELL_COMMAND, text)?;
        Ok(Self(command))
    }
}

/// Takes a text. The field is the expected form.
struct Text(&'static str);

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}
