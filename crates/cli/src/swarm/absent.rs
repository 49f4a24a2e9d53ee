//! What is said where libtorrent is not.

use anyhow::bail;

use crate::swarm_args::{Get, Seed};
use crate::{Env, Exit};

impl Get {
    pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
        missing("get")
    }
}

impl Seed {
    pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
        missing("seed")
    }
}

fn missing(command: &str) -> anyhow::Result<Exit> {
    bail!(
        "`{command}` needs libtorrent, which this program was built without: install \
         libtorrent-rasterbar 2.0.8 or newer with its headers, pkg-config and a C++ compiler (Debian: \
         apt-get install libtorrent-rasterbar-dev pkg-config g++), and build it again with `make build`"
    );
}
