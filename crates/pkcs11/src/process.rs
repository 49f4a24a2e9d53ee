//! The token of this process: initialisation, locks, and children of `fork`.
//!
//! A child inherits the memory of its parent. Locks that threads of the parent held are never
//! released in the child. A child therefore does not touch the state of its parent: a `fork`
//! handler increments a counter, which makes the inherited token unreachable. `C_Initialize` makes
//! a new token with a new lock.
#![allow(unsafe_code, reason = "keeps one state per process in a static")]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use cryptoki_sys::{
    CKR_CRYPTOKI_ALREADY_INITIALIZED, CKR_CRYPTOKI_NOT_INITIALIZED, CKR_HOST_MEMORY,
};
use hashlane_sha::Engine;

use crate::border::Result;
use crate::token::Token;

/// The state of one process.
struct Process {
    /// The value of [`FORKS`] in this process.
    forks: usize,
    token: RwLock<Option<Token>>,
    /// The state of the parent process. Never used, but it keeps the memory reachable for leak
    /// checkers.
    _parent: Option<&'static Process>,
}

/// The state of the process that loaded the module.
static FIRST: Process = Process {
    forks: 0,
    token: RwLock::new(None),
    _parent: None,
};
/// The state of the latest process that has called `C_Initialize`, or null if it is [`FIRST`].
static LATEST: AtomicPtr<Process> = AtomicPtr::new(null_mut());
/// Number of forks between the process that loaded the module and this process.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Runs `body` with the token. Other readers may run at the same time.
pub(crate) fn read<T>(body: impl FnOnce(&Token) -> Result<T>) -> Result<T> {
    let process = current().ok_or(CKR_CRYPTOKI_NOT_INITIALIZED)?;
    let token = process.token.read();
    let token = token.unwrap_or_else(PoisonError::into_inner);
    body(token.as_ref().ok_or(CKR_CRYPTOKI_NOT_INITIALIZED)?)
}

/// Runs `body` with exclusive access to the token.
pub(crate) fn write<T>(body: impl FnOnce(&mut Token) -> Result<T>) -> Result<T> {
    let process = current().ok_or(CKR_CRYPTOKI_NOT_INITIALIZED)?;
    let token = process.token.write();
    let mut token = token.unwrap_or_else(PoisonError::into_inner);
    body(token.as_mut().ok_or(CKR_CRYPTOKI_NOT_INITIALIZED)?)
}

/// Makes a token for this process.
pub(crate) fn initialize() -> Result {
    watch_forks()?;
    // The choice of kernels takes a lock, which must not be locked when a child is forked.
    Engine::detect();
    let process = current().unwrap_or_else(succeed);
    let token = process.token.write();
    let mut token = token.unwrap_or_else(PoisonError::into_inner);
    if token.is_some() {
        return Err(CKR_CRYPTOKI_ALREADY_INITIALIZED);
    }
    *token = Some(Token::default());
    Ok(())
}

/// Drops the token with all its keys.
pub(crate) fn finalize() -> Result {
    let process = current().ok_or(CKR_CRYPTOKI_NOT_INITIALIZED)?;
    let token = process.token.write();
    let mut token = token.unwrap_or_else(PoisonError::into_inner);
    token.take().ok_or(CKR_CRYPTOKI_NOT_INITIALIZED)?;
    Ok(())
}

/// Returns the state of this process, or `None` in a child that has not called `C_Initialize`.
fn current() -> Option<&'static Process> {
    let latest = latest();
    (latest.forks == FORKS.load(Ordering::Relaxed)).then_some(latest)
}

fn latest() -> &'static Process {
    // SAFETY: the pointer is null, or points to a box that `succeed` has leaked, and only shared
    // references exist.
    unsafe { LATEST.load(Ordering::Acquire).as_ref() }.unwrap_or(&FIRST)
}

/// Makes the state of a child, or returns the state that another thread has just made.
fn succeed() -> &'static Process {
    let parent = LATEST.load(Ordering::Acquire);
    let process = Box::into_raw(Box::new(Process {
        forks: FORKS.load(Ordering::Relaxed),
        token: RwLock::new(None),
        _parent: Some(latest()),
    }));
    let order = (Ordering::AcqRel, Ordering::Acquire);
    if LATEST
        .compare_exchange(parent, process, order.0, order.1)
        .is_err()
    {
        // SAFETY: the pointer comes from the box above, and no other code has seen it.
        drop(unsafe { Box::from_raw(process) });
    }
    latest()
}

/// Registers [`count_fork`] with the C library, which calls it in children until the module is unloaded.
fn watch_forks() -> Result {
    static IS_WATCHING: AtomicBool = AtomicBool::new(false);
    if IS_WATCHING.load(Ordering::Acquire) {
        return Ok(());
    }
    // Two threads may register the handler twice. The counter then advances by 2, and still differs
    // from the parent's.
    // SAFETY: the handler calls nothing and takes no lock, so it may run in a child of any process.
    let error = unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    if error != 0 {
        return Err(CKR_HOST_MEMORY);
    }
    IS_WATCHING.store(true, Ordering::Release);
    Ok(())
}

unsafe extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
