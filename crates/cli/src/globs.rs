//! Options that take patterns of file names.

use anyhow::Context as _;
use hashlane_files::Globs;

/// Returns the patterns given to an option, which errors name.
pub(crate) fn of(option: &str, patterns: &[String]) -> anyhow::Result<Globs> {
    let mut globs = Globs::default();
    for pattern in patterns {
        let named = || format!("{option} {pattern}").trim_end().to_owned();
        globs.add(pattern).with_context(named)?;
    }
    Ok(globs)
}
