//! Linux: a function that the dynamic linker calls before Rust's runtime starts.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static HAS_NO_STDIN: AtomicBool = AtomicBool::new(false);
static HAS_NO_STDOUT: AtomicBool = AtomicBool::new(false);
static PIPES_END_PROCESS: AtomicBool = AtomicBool::new(false);
static IGNORES_HANGUP: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds pointers to functions of this type. The dynamic linker calls them once, before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static RECORD: extern "C" fn() = record;

extern "C" fn record() {
    for (fd, is_closed) in [(0, &HAS_NO_STDIN), (1, &HAS_NO_STDOUT)] {
        // SAFETY: the call only reads a flag, and fails if the descriptor is closed.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
        is_closed.store(flags == -1, Ordering::Relaxed);
    }
    let is_default = action_of(libc::SIGPIPE) == Some(libc::SIG_DFL);
    PIPES_END_PROCESS.store(is_default, Ordering::Relaxed);
    let is_ignored = action_of(libc::SIGHUP) == Some(libc::SIG_IGN);
    IGNORES_HANGUP.store(is_ignored, Ordering::Relaxed);
}

/// Returns the action of a signal.
fn action_of(signal: libc::c_int) -> Option<libc::sighandler_t> {
    // SAFETY: all zeros are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: no action is set, and `action` is writable.
    let result = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    (result == 0).then_some(action.sa_sigaction)
}

/// Returns `true` if the standard input stream was closed.
pub(super) fn has_no_stdin() -> bool {
    HAS_NO_STDIN.load(Ordering::Relaxed)
}

/// Returns `true` if the standard output stream was closed.
pub(super) fn has_no_stdout() -> bool {
    HAS_NO_STDOUT.load(Ordering::Relaxed)
}

/// Returns `true` if SIGPIPE had its default action.
pub(super) fn pipes_end_process() -> bool {
    PIPES_END_PROCESS.load(Ordering::Relaxed)
}

/// Returns `true` if SIGHUP was ignored.
pub(super) fn ignores_hangup() -> bool {
    IGNORES_HANGUP.load(Ordering::Relaxed)
}

/// Ignores SIGHUP.
pub(super) fn ignore_hangup() {
    // SAFETY: an ignored signal needs no handler.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
}

/// Gives the signals that end a process their default actions.
pub(super) fn restore_end_by_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Ends the process by SIGPIPE.
pub(super) fn end_by_broken_pipe() {
    // SAFETY: the default action replaces the one that Rust's runtime set, and needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // SAFETY: the function has no requirements.
    unsafe { libc::raise(libc::SIGPIPE) };
}
