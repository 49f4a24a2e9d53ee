//! Lists of checksums.
//!
//! - `entry.rs`: the entry of a line
//! - `gnu.rs`: lines of GNU coreutils, plain and `--tag`; BSD lines
//! - `hashdeep.rs`: lines of hashdeep
//! - `mtree.rs`: specifications of mtree
//! - `signed.rs`: the armor of signed lists
//! - `any.rs`: lines of SFV files, and of all these formats
//! - `values.rs`: lines of results of any form
//! - `write.rs`: lists in all these formats, written
//! - `lines.rs`: lines of a file, with a limit

mod any;
mod entry;
mod gnu;
mod hashdeep;
mod lines;
mod mtree;
mod signed;
mod values;
mod write;

pub use any::AnyLines;
pub use entry::{Entry, Line};
pub use gnu::{GnuLines, LineStyle, write_line};
pub use lines::Lines;
pub use values::{ValueLine, ValueLines};
pub use write::{ListFormat, ListWriter, Unwritable};
