//! Tests of the library, its header and its installation.

mod abi;
mod install;
mod programs;
mod support;
