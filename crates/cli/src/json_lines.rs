//! `--json`: one object a line.

use serde::Serialize;

use crate::Env;

pub(crate) fn print(env: &mut Env, line: &impl Serialize) -> anyhow::Result<()> {
    // Not straight to the stream: serde_json's error would hide that the reader went away.
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(env.stdout.write_all(&text)?)
}
