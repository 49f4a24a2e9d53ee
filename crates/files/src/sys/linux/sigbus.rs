//! A guard against SIGBUS in a range of addresses.
//!
//! A page of a mapped file raises SIGBUS in the thread that touches it if the file was truncated or
//! the disk failed. The handler maps zeros over the page and the rest of the range, records the
//! fault, and lets the thread continue. Code that reads from the range must call
//! [`Guard::is_intact`] before it uses the bytes. Faults at other addresses go to the handler that
//! was installed before.

#![allow(unsafe_code)]

use std::io;
use std::iter;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

use rustix::mm::{MapFlags, ProtFlags};

/// The guarded range of one thread. The slots are a list that only grows, so the handler needs no
/// lock.
///
/// The data are not thread-local. In a library that is loaded by dlopen, the first access of a
/// thread to thread-local data allocates memory, and the handler runs in any thread that has a
/// fault, perhaps within `malloc`.
struct Slot {
    /// The thread that owns the guard, or [`NOBODY`]. Only this thread reads and writes the fields
    /// below, so relaxed atomics are enough.
    owner: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    faulted: AtomicBool,
    next: OnceLock<Box<Slot>>,
}

const NOBODY: usize = 0;

static FIRST: Slot = Slot::new();

impl Slot {
    const fn new() -> Self {
        Self {
            owner: AtomicUsize::new(NOBODY),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            faulted: AtomicBool::new(false),
            next: OnceLock::new(),
        }
    }

    /// Returns the slot of this thread.
    fn of_this_thread() -> Option<&'static Self> {
        let thread = this_thread();
        let mut slots = iter::successors(Some(&FIRST), |slot| slot.next.get().map(Box::as_ref));
        slots.find(|slot| slot.owner.load(Ordering::Relaxed) == thread)
    }

    /// Makes this thread the owner of a slot that has no owner.
    fn take() -> &'static Self {
        let (thread, mut slot) = (this_thread(), &FIRST);
        while slot
            .owner
            .compare_exchange(NOBODY, thread, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            slot = slot.next.get_or_init(|| Box::new(Self::new()));
        }
        slot
    }
}

/// Returns the number of this thread, which no other living thread has.
fn this_thread() -> usize {
    // SAFETY: pthread_self(3) has no requirements and may be called in a handler.
    let thread = unsafe { libc::pthread_self() };
    thread as usize
}

static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// A range of addresses in which this thread survives SIGBUS until the guard is dropped.
pub(super) struct Guard {
    slot: &'static Slot,
    /// The guard belongs to the thread that made it.
    not_send: std::marker::PhantomData<*const ()>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

impl Guard {
    /// Guards `len_bytes` bytes from `start`.
    ///
    /// # Errors
    /// The system's error if the handler cannot be installed; `ResourceBusy` if this thread already
    /// has a guard.
    ///
    /// # Safety
    /// Until the guard is dropped, only its owner may know of the mappings in the range. The
    /// handler may map zeros over any page of the range.
    pub(super) unsafe fn new(start: *const u8, len_bytes: usize) -> io::Result<Self> {
        install()?;
        if Slot::of_this_thread().is_some() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let slot = Slot::take();
        slot.faulted.store(false, Ordering::Relaxed);
        slot.start.store(start.addr(), Ordering::Relaxed);
        slot.end.store(start.addr() + len_bytes, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        Ok(Self {
            slot,
            not_send: std::marker::PhantomData,
        })
    }

    /// Shortens the guarded range to end at `end`.
    pub(super) fn end_at(&self, end: *const u8) {
        self.slot.end.store(end.addr(), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Clears a recorded fault.
    pub(super) fn reset(&self) {
        self.slot.faulted.store(false, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Returns `true` if no page faulted since the guard was made or reset.
    pub(super) fn is_intact(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        !self.slot.faulted.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.slot.start.store(0, Ordering::Relaxed);
        self.slot.end.store(0, Ordering::Relaxed);
        self.slot.owner.store(NOBODY, Ordering::Release);
    }
}

/// Installs the handler, once per process.
fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let result = INSTALLED.get_or_init(|| {
        // Read the old handler before the new one can be called.
        // SAFETY: sigaction(2) with a null new action only writes the old one. All zeros is a valid
        // value, so `previous` is initialised in any case.
        let previous = unsafe {
            let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), previous.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
            }
            previous.assume_init()
        };
        PREVIOUS.get_or_init(|| previous);
        // SAFETY: all zeros is a valid sigaction. `on_sigbus` has the signature for SA_SIGINFO, and
        // is async-signal-safe.
        let installed = unsafe {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            let handler: extern "C" fn(_, _, _) = on_sigbus;
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut())
        };
        if installed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error().raw_os_error().unwrap_or(0))
        }
    });
    result.map_err(io::Error::from_raw_os_error)
}

/// Uses only async-signal-safe operations: atomics, `pthread_self(3)`, and mmap(2), which is a bare
/// system call in rustix that does not touch errno.
extern "C" fn on_sigbus(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo to an SA_SIGINFO handler.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // A positive code is a fault of this thread. Otherwise a process sent the signal.
    let slot = Slot::of_this_thread().filter(|_| code > 0);
    if slot.is_some_and(|slot| put_zeros(slot, address)) {
        return;
    }
    chain(signal, code > 0, info, context);
}

/// Maps zeros from the page of `address` to the end of the guarded range. Returns `false` if
/// `address` is not in the range.
fn put_zeros(slot: &Slot, address: usize) -> bool {
    let (start, end) = (
        slot.start.load(Ordering::Relaxed),
        slot.end.load(Ordering::Relaxed),
    );
    if !(start..end).contains(&address) {
        return false;
    }
    let page = address - address % rustix::param::page_size();
    // SAFETY: the pages from `page` to `end` lie in the guarded range, whose start is page-aligned.
    // The owner of the range allows the handler to map zeros there.
    let zeros = unsafe {
        rustix::mm::mmap_anonymous(
            ptr::with_exposed_provenance_mut(page),
            end - page,
            ProtFlags::READ,
            MapFlags::PRIVATE | MapFlags::FIXED,
        )
    };
    if zeros.is_ok() {
        slot.faulted.store(true, Ordering::Relaxed);
    }
    zeros.is_ok()
}

/// Acts as the previously installed handler would.
fn chain(
    signal: libc::c_int,
    is_fault: bool,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let previous = PREVIOUS.get();
    let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        if !is_fault && handler == libc::SIG_IGN {
            return;
        }
        // A fault cannot be ignored: the instruction faults again and ends the process with the
        // right status and core dump. A signal that a process sent must be raised again.
        // SAFETY: signal(2) and raise(3) may be called in a handler.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if !is_fault {
                libc::raise(signal);
            }
        }
        return;
    }
    let takes_info = previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0);
    // SAFETY: the address was installed as a handler of this kind, as its flags show, and is called
    // as the kernel would call it.
    unsafe {
        if takes_info {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                fn_from_address(handler);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(libc::c_int) = fn_from_address(handler);
            handler(signal);
        }
    }
}

/// # Safety
/// `address` must be the address of a function of type `F`, a function pointer type.
unsafe fn fn_from_address<F: Copy>(address: usize) -> F {
    const { assert!(size_of::<F>() == size_of::<*const ()>()) }
    let address = ptr::with_exposed_provenance::<()>(address);
    // SAFETY: a function pointer is as large as a data pointer (checked above), and the caller
    // guarantees that this one points to an `F`.
    unsafe { ptr::from_ref(&address).cast::<F>().read() }
}
