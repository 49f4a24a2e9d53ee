//! The output of the program: text for people, JSON lines, and progress.

pub(crate) mod columns;
pub(crate) mod json_lines;
pub(crate) mod piece_map;
pub(crate) mod progress;
pub(crate) mod stream;
#[cfg(feature = "libtorrent")]
pub(crate) mod swarm;
#[cfg(unix)]
pub(crate) mod terminal_modes;
pub(crate) mod text;
