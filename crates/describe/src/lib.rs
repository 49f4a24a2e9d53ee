//! Descriptions that are generated: of the API, of the types of the page's scripts and of the settings. `cargo xtask describe`
//! writes them, and a test compares the files of the tree.
#![forbid(unsafe_code)]
#![cfg(all(unix, feature = "libtorrent"))]

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

impl Document {
    fn place(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(self.path)
    }
}

fn documents() -> Result<Vec<Document>> {
    let openapi = hashlane_web::openapi();
    let document = |path, content| Document { path, content };
    let pretty = serde_json::to_string_pretty(&openapi)? + "\n";
    Ok(vec![
        document("docs/reference/openapi.json", pretty),
        document(
            "crates/web/src/page/api.d.ts",
            typescript::declarations(&openapi),
        ),
        document("docs/reference/settings.md", settings::page()?),
    ])
}

/// Writes the files.
///
/// # Errors
/// A file cannot be written, or an option has a value that the reference of the settings does not know.
pub fn write() -> Result<()> {
    for document in documents()? {
        fs::write(document.place(), &document.content).context(document.path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_generated() {
        for document in documents().unwrap() {
            let found = fs::read_to_string(document.place()).unwrap_or_default();
            assert!(
                found == document.content,
                "{}: not as the types say; run `cargo xtask describe`",
                document.path
            );
        }
    }
}
