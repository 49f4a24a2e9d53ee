//! Tests of the library, its header and its installation.

mod abi;
mod install;
mod not_run;
mod programs;
mod support;
