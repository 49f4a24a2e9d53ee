//! Descriptions that are generated: of the API, of the types of the page's scripts, of JSON lines and of the settings.
//! `cargo xtask describe` writes them, and a test compares the files of the tree.
#![forbid(unsafe_code)]
#![cfg(all(unix, feature = "libtorrent"))]

mod json_lines;
mod settings;
mod typescript;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// A file that is generated.
struct Document {
    /// The path below the checkout.
    path: &'static str,
    content: String,
}

/// A page that is written by hand, except for its tables.
const JSON: &str = "docs/reference/json.md";

fn place(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(path)
}

fn documents() -> Result<Vec<Document>> {
    let openapi = hashlane_web::openapi();
    let json = fs::read_to_string(place(JSON)).context(JSON)?;
    let document = |path, content| Document { path, content };
    let pretty = serde_json::to_string_pretty(&openapi)? + "\n";
    Ok(vec![
        document("docs/reference/openapi.json", pretty),
        document(
            "crates/web/src/page/api.d.ts",
            typescript::declarations(&openapi),
        ),
        document(JSON, json_lines::page(&json)?),
        document("docs/reference/settings.md", settings::page()?),
    ])
}

/// Writes the files.
///
/// # Errors
/// A file cannot be written, or an option has a value that the reference of the settings does not know.
pub fn write() -> Result<()> {
    for document in documents()? {
        fs::write(place(document.path), &document.content).context(document.path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_generated() {
        for document in documents().unwrap() {
            let found = fs::read_to_string(place(document.path)).unwrap_or_default();
            assert!(
                found == document.content,
                "{}: not as the types say; run `cargo xtask describe`",
                document.path
            );
        }
    }
}
