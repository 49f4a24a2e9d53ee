//! Reads content maps, as `find --save` writes them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use hashlane_files::read_limited;
use hashlane_metainfo::ContentMap;

use crate::{Env, input};

/// Reads the map of `--content-map`. Errors name the file.
///
/// # Errors
/// The file cannot be read, is longer than a map may be, or is no map.
pub fn read(env: &Env, path: &Path) -> anyhow::Result<Arc<ContentMap>> {
    let named = || path.display().to_string();
    let mut text = Vec::new();
    let file = input::open(&env.resolve(path)).with_context(named)?;
    if !read_limited(file, ContentMap::MAX_LEN, &mut text).with_context(named)? {
        let limit = ContentMap::MAX_LEN >> 20;
        bail!(
            "{}: longer than {limit} MiB, the limit of a content map",
            named()
        );
    }
    Ok(Arc::new(ContentMap::parse(&text).with_context(named)?))
}
