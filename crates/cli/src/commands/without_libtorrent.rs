//! The commands that need libtorrent, in programs built without it.

use std::path::PathBuf;

use hashlane_metainfo::PeerAddress;

use super::get::Get;
use super::magnet::fetch::Fetching;
use super::seed::Seed;
use crate::{Env, Exit};

/// Returns the error of every such command.
fn needs_libtorrent(command: &str) -> anyhow::Result<Exit> {
    anyhow::bail!(
        "`{command}` requires a program built with libtorrent: install libtorrent-rasterbar 2.0.8 or later \
         with its headers, pkg-config and a C++ compiler (Debian: \
         apt-get install libtorrent-rasterbar-dev pkg-config g++), then run `make build`"
    )
}

#[expect(clippy::unused_self, reason = "the signature of both builds")]
impl Get {
    pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
        needs_libtorrent("get")
    }
}

#[expect(clippy::unused_self, reason = "the signature of both builds")]
impl Seed {
    pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
        needs_libtorrent("seed")
    }
}

#[expect(clippy::unused_self, reason = "the signature of both builds")]
impl Fetching {
    pub(crate) fn run(
        self,
        _: &mut Env,
        _: &[PathBuf],
        _: &[PeerAddress],
        _: bool,
    ) -> anyhow::Result<Exit> {
        needs_libtorrent("magnet --fetch")
    }
}
