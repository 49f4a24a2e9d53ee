//! What differs from system to system, with the same functions for each.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::{MapArena, is_rotational};
#[cfg(target_os = "linux")]
pub(crate) use linux::{next_data, next_hole, open, read_at};

#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(not(target_os = "linux"))]
pub use portable::{MapArena, is_rotational};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{next_data, next_hole, open, read_at};

/// Bytes of a file in a [`MapArena`]: what [`MapArena::map`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Where the bytes begin, from the arena's start.
    start: usize,
    len_bytes: usize,
    /// [`MapArena::reset`]s before this window was mapped.
    generation: u64,
}
