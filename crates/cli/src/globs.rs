//! Options that take patterns of file names.

use anyhow::Context as _;
use hashlane_files::Globs;

/// Returns the patterns given to an option, which errors name.
pub(crate) fn of(option: &str, patterns: &[impl AsRef<str>]) -> anyhow::Result<Globs> {
    with(Globs::default(), option, patterns)
}

/// Returns the patterns given to an option for which letter case makes no difference.
pub(crate) fn ignoring_case(option: &str, patterns: &[impl AsRef<str>]) -> anyhow::Result<Globs> {
    with(Globs::ignoring_case(), option, patterns)
}

fn with(mut globs: Globs, option: &str, patterns: &[impl AsRef<str>]) -> anyhow::Result<Globs> {
    for pattern in patterns {
        let pattern = pattern.as_ref();
        let named = || format!("{option} {pattern}").trim_end().to_owned();
        globs.add(pattern).with_context(named)?;
    }
    Ok(globs)
}
