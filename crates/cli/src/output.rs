//! The output of the program: text for people, JSON lines, and progress.

pub mod columns;
pub mod elsewhere;
pub mod json_lines;
pub mod piece_map;
pub mod printer;
pub(crate) mod progress;
pub mod stream;
#[cfg(unix)]
pub mod terminal_modes;
pub mod text;
