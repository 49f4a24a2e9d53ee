//! `cargo xtask describe`: writes the files that are generated from types and options.
#![forbid(unsafe_code)]

fn main() -> anyhow::Result<()> {
    hashlane_describe::write()
}
