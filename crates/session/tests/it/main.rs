//! Tests of the public interface.
#![cfg(all(unix, feature = "libtorrent"))]
#![allow(clippy::unwrap_used)]

mod ending;
mod examples;
mod restart;
mod rules;

use std::fs;
use std::path::Path;

use hashlane_metainfo::{NewContent, NewMetadata, Torrent, Version};
use hashlane_verify::{
    CancelToken, Choice, Links, Options, Selection, SourceTree, hash_source_tree,
};

/// A folder with the content `data` of a torrent.
struct Shared {
    folder: tempfile::TempDir,
    torrent: Torrent,
}

impl Shared {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("a"), vec![7; 300_000]).unwrap();
        fs::write(data.join("b"), "b").unwrap();
        let selection = Selection::new(&|_| Choice::Take).links(Links::Skip);
        let tree = SourceTree::find(&data, &selection, false).unwrap();
        let files = tree.files();
        let content =
            NewContent::new(Version::Hybrid, 16 << 10, b"data".to_vec(), false, files).unwrap();
        let (options, cancel) = (Options::default(), CancelToken::default());
        let hashes = hash_source_tree(&tree, &content, &options, &cancel, &mut |_| {}).unwrap();
        let torrent = content.write(&hashes, &NewMetadata::default());
        Self {
            folder,
            torrent: Torrent::parse(torrent).unwrap(),
        }
    }

    fn assert_same(&self, folder: &Path) {
        for name in ["a", "b"] {
            let read = |folder: &Path| fs::read(folder.join("data").join(name)).unwrap();
            assert!(read(folder) == read(self.folder.path()), "{name}");
        }
    }
}
