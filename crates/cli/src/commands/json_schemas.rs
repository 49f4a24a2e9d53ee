//! The schemas of JSON lines, for the tables of docs/reference/json.md.

use schemars::Schema;

use super::{create, edit, find, import, magnet, show, sum, verify};

/// Returns the schemas of the lines that commands print with `--json`, by the names of the commands.
pub fn json_lines() -> Vec<(&'static str, Schema)> {
    vec![
        ("verify", verify::schema()),
        ("find", find::schema()),
        #[cfg(unix)]
        ("archive", super::archive::schema()),
        ("create", create::schema()),
        ("sum", sum::schema()),
        ("show", show::schema()),
        ("magnet", magnet::schema()),
        ("edit", edit::schema()),
        ("import", import::schema()),
    ]
}
