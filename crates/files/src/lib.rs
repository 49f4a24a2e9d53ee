#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod file;
mod sys;

pub use file::{Region, SourceFile};
pub use sys::{MapArena, Window, is_rotational, max_open_files};
