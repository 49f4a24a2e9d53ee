//! Patterns of file names.

use anyhow::{Context as _, bail};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The patterns that an option was given.
pub(crate) fn of(option: &str, patterns: &[String]) -> anyhow::Result<GlobSet> {
    let mut globs = GlobSetBuilder::new();
    for pattern in patterns {
        let named = || format!("{option} {pattern}");
        if pattern.is_empty() {
            bail!("{option}: an empty pattern");
        }
        // Without a folder in it a pattern means the name, wherever it is.
        let anywhere = if pattern.trim_end_matches('/').contains('/') {
            let from_top = pattern
                .strip_prefix('.')
                .filter(|rest| rest.starts_with('/'));
            from_top
                .unwrap_or(pattern)
                .trim_start_matches('/')
                .to_owned()
        } else {
            format!("**/{pattern}")
        };
        let mut glob = GlobBuilder::new(anywhere.trim_end_matches('/'));
        // A star is of one name, and two stars are of any number of folders.
        let glob = glob.literal_separator(true).build();
        globs.add(glob.with_context(named)?);
    }
    Ok(globs.build()?)
}
