//! Limits of the process under which libtorrent ends the process, or waits forever.

use anyhow::bail;
use hashlane_api::Size;
use rustix::process::{Resource, getrlimit};

/// Stack that libtorrent's threads need. Their stacks have the length of this limit.
const MIN_STACK: u64 = 256 << 10;

/// Address space that the program needs on a machine with few cores: 400 MB were too little in one of three runs.
const MIN_MEMORY: u64 = 512 << 20;

/// Refuses limits that are too low for libtorrent.
pub(crate) fn check() -> anyhow::Result<()> {
    for (resource, what, option, min) in [
        (Resource::Stack, "stacks", "s", MIN_STACK),
        (Resource::As, "memory", "v", MIN_MEMORY),
    ] {
        if let Some(limit) = getrlimit(resource).current
            && limit < min
        {
            let (limit, min) = (Size(limit), Size(min));
            bail!(
                "the limit of {limit} on {what} (`ulimit -{option}`) is too low: libtorrent needs {min}"
            );
        }
    }
    Ok(())
}

/// Returns `true` if the address space of this process is limited.
pub(crate) fn has_memory_limit() -> bool {
    getrlimit(Resource::As).current.is_some()
}
