//! The modes of the terminal: changed and restored only while this process is in the foreground.
//!
//! A terminal stops a background process that changes its modes (SIGTTOU). The modes also affect later processes, so
//! this module restores its changes however the program ends.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

#[derive(Debug)]
struct Modes {
    /// The original modes, while they are changed.
    before: Option<Termios>,
    /// Whether the process is about to exit, so that the modes must not change any more.
    is_over: bool,
}

static MODES: Mutex<Modes> = Mutex::new(Modes {
    before: None,
    is_over: false,
});

fn lock() -> MutexGuard<'static, Modes> {
    MODES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps keys such as Ctrl-C from being shown as `^C`, which would shift lines that are redrawn.
/// Does nothing in the background, so that it can be called again after the shell's `fg`.
pub fn hide_control_keys() {
    remove(LocalModes::ECHOCTL);
}

/// Makes the terminal hide typed characters, and returns `true` on success. Can be called again after the shell's `fg`.
pub(crate) fn hide_input() -> bool {
    remove(LocalModes::ECHO)
}

/// Removes modes from the terminal, and returns `true` if the terminal has none of them now.
fn remove(unwanted: LocalModes) -> bool {
    let mut state = lock();
    if state.is_over || !is_in_foreground() {
        return false;
    }
    let Ok(modes) = tcgetattr(io::stdin()) else {
        return false;
    };
    if !modes.local_modes.intersects(unwanted) {
        return true;
    }
    let mut changed = modes.clone();
    changed.local_modes.remove(unwanted);
    let is_changed = tcsetattr(io::stdin(), OptionalActions::Now, &changed).is_ok();
    if is_changed {
        state.before.get_or_insert(modes);
    }
    is_changed
}

/// Restores the modes, unless the shell has taken the terminal back and restored its own.
pub fn restore() {
    restore_locked(&mut lock());
}

/// Restores the modes permanently, for an exit that runs no destructors.
pub(crate) fn restore_before_exit() {
    let mut state = lock();
    state.is_over = true;
    restore_locked(&mut state);
}

fn restore_locked(state: &mut Modes) {
    if let Some(modes) = state.before.take()
        && is_in_foreground()
    {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
    }
}

/// Returns `true` if the terminal lets this process change its modes.
fn is_in_foreground() -> bool {
    // A terminal that does not control this process has no foreground group, and stops no process.
    tcgetpgrp(io::stdin()).map_or(true, |group| group == getpgrp())
}
