//! Statistics that all programs have.

use hashlane_import::Program;

use crate::fixture::{session, torrents};

/// Whether content was present decides if it is awaited when its place is empty.
#[test]
fn content_that_a_program_had_is_known() {
    for (program, folder) in [
        (Program::QBittorrent, "qbittorrent"),
        #[cfg(unix)]
        (Program::QBittorrent, "qbittorrent-sqlite"),
        (Program::Transmission, "transmission"),
        (Program::RTorrent, "rtorrent"),
        (Program::Deluge, "deluge"),
    ] {
        let torrents = torrents(program, &session(folder));
        let had = |name: &str| torrents[name].statistics.had_content;
        assert!(had("one.bin") && had("partial"), "{folder}");
        assert!(!had("linked"), "{folder}");
    }
}
