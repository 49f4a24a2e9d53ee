//! Options that take patterns of file names.

use anyhow::Context as _;
use hashlane_files::Globs;

/// Adds the patterns that were given to an option. Errors name the option.
///
/// # Errors
/// A pattern is invalid.
pub fn with(mut globs: Globs, option: &str, patterns: &[impl AsRef<str>]) -> anyhow::Result<Globs> {
    for pattern in patterns {
        let pattern = pattern.as_ref();
        let named = || format!("{option} {pattern}").trim_end().to_owned();
        globs.add(pattern).with_context(named)?;
    }
    Ok(globs)
}
