//! A library that a program loads while it runs, for `tests/it/dlopen.rs`.
#![allow(missing_docs)]

use hashlane_files::MapArena;

/// Makes an arena on this thread, which installs the handler of SIGBUS. The arena is not dropped.
#[unsafe(no_mangle)]
pub extern "C" fn start_guard() -> bool {
    MapArena::new(1 << 16).map(std::mem::forget).is_ok()
}
