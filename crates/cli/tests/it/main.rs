//! Runs the program as a process, and checks its output and exit status.
#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod archive;
#[cfg(unix)]
mod bag;
#[cfg(unix)]
mod completions;
mod config;
mod coreutils;
mod create;
mod create_options;
mod create_presets;
mod create_selection;
mod digest;
#[cfg(unix)]
mod documentation;
mod downstream;
#[cfg(unix)]
mod duplicates;
mod edit;
mod escapes;
mod files;
mod find;
mod fixture;
mod generated;
mod git;
#[cfg(target_os = "linux")]
mod growth;
mod hostile;
mod import;
mod in_process;
mod interop;
mod interrupt;
mod json;
#[cfg(unix)]
mod known;
mod limits;
mod links;
mod lists;
#[cfg(unix)]
mod look;
mod memory;
#[cfg(unix)]
mod naming;
mod not_run;
mod options;
#[cfg(unix)]
mod other_program;
mod output;
mod own_files;
mod own_process;
#[cfg(unix)]
#[path = "../pages/mod.rs"]
mod pages;
mod par2;
#[cfg(unix)]
mod par2cmdline;
#[cfg(unix)]
mod prompt;
mod random;
mod recover;
mod shared;
mod show;
#[cfg(unix)]
mod signal;
mod sum;
mod sum_trees;
#[cfg(unix)]
mod terminal;
mod verify;
mod verify_library;
#[cfg(target_os = "linux")]
mod xfs;
