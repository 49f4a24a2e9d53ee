//! `--json`: one object a line.

use hashlane_metainfo::{PathComponent, TorrentPath};
use serde::Serialize;

use crate::Env;
use crate::output::text::hex;

/// A path of a torrent: as text, and as bytes if these are no text.
#[derive(Serialize)]
pub(crate) struct PathText {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
}

impl PathText {
    pub(crate) fn of(path: TorrentPath<'_>) -> Self {
        let components: Vec<&[u8]> = path.components().map(PathComponent::as_bytes).collect();
        let path = components.join(&b'/');
        let is_utf8 = str::from_utf8(&path).is_ok();
        Self {
            path: String::from_utf8_lossy(&path).into_owned(),
            path_hex: (!is_utf8).then(|| hex(&path)),
        }
    }
}

pub(crate) fn print(env: &mut Env, line: &impl Serialize) -> anyhow::Result<()> {
    // Not straight to the stream: serde_json's error would hide that the reader went away.
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(env.stdout.write_all(&text)?)
}
