//! What differs from system to system, with the same functions for each.

#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
pub use linux::{MapArena, Window, is_rotational};
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
pub(crate) use linux::{next_data, next_hole, open, read_at};

#[cfg(any(not(target_os = "linux"), hashlane_portable))]
mod portable;
#[cfg(any(not(target_os = "linux"), hashlane_portable))]
pub use portable::{MapArena, Window, is_rotational};
#[cfg(any(not(target_os = "linux"), hashlane_portable))]
pub(crate) use portable::{next_data, next_hole, open, read_at};
