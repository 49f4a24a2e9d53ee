//! The C interface of `hashlane-sha` for the Linux kernel. `module/rust.h` declares it.
//!
//! Every function here uses vector registers: the compiler may use them anywhere. C therefore calls the functions only
//! between `kernel_fpu_begin` and `kernel_fpu_end`, on the scratch stack of the CPU (`module/section.c`). Each function
//! takes one pointer, because the switch of stacks passes one.
//!
//! | file | contents |
//! |---|---|
//! | `section.rs` | one section of several messages |
//! | `calls.rs` | the functions that C calls, and the only unsafe code |
#![no_std]
#![deny(unsafe_code)]

mod calls;
mod section;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    calls::abort()
}
