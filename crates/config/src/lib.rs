//! The configuration of the programs: TOML files and environment variables.
//!
//! [`Sources`] name the files and variables, and [`Config::load`] reads them as layers. A value keeps its [`Origin`]:
//! file and line, or variable. A program that takes its values by key asks [`Config::layers`]. A program with a table
//! of its own asks [`Config::table`], which merges the layers key by key:
//!
//! ```
//! use hashlane_config::{Config, FilePath, ShellCommand, Sources};
//! use serde::Deserialize;
//!
//! #[derive(Default, Deserialize)]
//! #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
//! struct Daemon {
//!     state: Option<FilePath>,
//!     max_active: Option<u32>,
//!     on_complete: Option<ShellCommand>,
//! }
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let file = folder.path().join("config.toml");
//! # std::fs::write(&file, "[daemon]\nmax-active = 3\nstate = \"state\"\n").unwrap();
//! # let sources = Sources { file: Some(file), ..Sources::default() };
//! // A program uses `Sources::of_process()`.
//! let config = Config::load(&sources, &["verify", "daemon"])?;
//! let daemon: Daemon = config.table("daemon")?;
//! assert_eq!(daemon.max_active, Some(3));
//!
//! // After SIGHUP, the same sources are read again. An error leaves the old configuration in force.
//! let new = Config::load(&sources, &["verify", "daemon"])?;
//! assert!(config.changed_keys(&new, "daemon").is_empty());
//! # Ok::<(), hashlane_config::Error>(())
//! ```
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `sources.rs` | the places of the files, and the variables |
//! | `origin.rs` | the place of a value, and what depends on it: relative paths, and whether commands are allowed |
//! | `value.rs` | values with origins |
//! | `file.rs` | reads a file as a layer |
//! | `variables.rs` | reads the environment variables as a layer |
//! | `config.rs` | the layers together |
//! | `deserialize.rs` | values as types of serde |
//! | `server_address.rs` | addresses of servers, which options have too |
//! | `typed.rs` | types whose meaning depends on the origin: paths and shell commands |
//! | `error.rs` | errors, and the known name that is nearest to an unknown one |
//!
//! `Error` can get new cases. `Value`, `Data` and `Origin` are exhaustive: a program decides about each type of TOML.
#![forbid(unsafe_code)]

mod config;
mod deserialize;
mod error;
mod file;
mod origin;
mod server_address;
mod sources;
mod typed;
mod value;
mod variables;

pub use config::{Config, Layer};
pub use error::{Error, nearest};
pub use file::{MAX_LEN, read_file};
pub use origin::{ConfigFile, Origin};
pub use server_address::{ServerAddress, ServerAddressError};
pub use sources::Sources;
pub use typed::{FilePath, ShellCommand};
pub use value::{Data, Table, Value};
pub use variables::variable_name;
