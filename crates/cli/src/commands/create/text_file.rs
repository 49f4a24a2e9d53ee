//! Text files that are named by options.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::Env;
use crate::output::text::Size;

/// Maximum length of a file. People write these files by hand.
const MAX_LEN: u64 = 1 << 20;

/// Reads a text file, or standard input if the path is `-`. Errors name the file.
pub(super) fn read(env: &mut Env, path: &Path) -> anyhow::Result<String> {
    let place = env.resolve(path);
    let read = || {
        let mut bytes = Vec::new();
        if path == Path::new("-") {
            (&mut env.stdin).take(MAX_LEN + 1).read_to_end(&mut bytes)?;
        } else {
            let file = std::fs::File::open(place)?;
            file.take(MAX_LEN + 1).read_to_end(&mut bytes)?;
        }
        if bytes.len() as u64 > MAX_LEN {
            bail!("is longer than {}", Size(MAX_LEN));
        }
        String::from_utf8(bytes).context("is not UTF-8 text")
    };
    read().with_context(|| path.display().to_string())
}
