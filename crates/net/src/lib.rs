//! The commands of Hashlane that need libtorrent: `get`, `seed`, `daemon` and `magnet --fetch`. The program `hashlane` executes the
//! program `hashlane-net` for them, which has the whole command line of `hashlane_cli`.
//!
//! | module | |
//! |---|---|
//! | `get`, `seed`, `fetch` | the runs of the commands |
//! | `daemon` | the run of `daemon`: torrents of a state folder, and the socket that controls them |
//! | `config`, `settings` | the settings of the client and of the session, from the options |
//! | `limits` | limits of the process that are too low for libtorrent |
//! | `log` | the log file |
//! | `again` | executes the program again if libtorrent does not respond |
//! | `runner` | runs a client: starts it, follows its events, and computes the exit status |
//! | `executor` | runs the command of `--exec` |
//! | `watchdog` | acts if libtorrent does not respond |
//! | `testing` | times that tests shorten |
//! | `output` | text, JSON lines, and the view of a terminal |
#![cfg(feature = "libtorrent")]
#![forbid(unsafe_code)]

mod again;
mod config;
mod daemon;
mod executor;
mod fetch;
mod get;
mod limits;
mod log;
mod output;
mod runner;
mod seed;
mod settings;
mod testing;
mod watchdog;

use hashlane_cli::{Daemon, Env, Exit, Get, Magnet, NetworkCommands, Seed};

/// A command with its options.
trait Run {
    fn run(self, env: &mut Env) -> anyhow::Result<Exit>;
}

/// The commands that need libtorrent, in this process.
#[derive(Clone, Copy, Debug)]
pub struct Libtorrent;

impl NetworkCommands for Libtorrent {
    fn get(&self, env: &mut Env, get: Get) -> anyhow::Result<Exit> {
        limits::check()?;
        get.run(env)
    }

    fn seed(&self, env: &mut Env, seed: Seed) -> anyhow::Result<Exit> {
        limits::check()?;
        seed.run(env)
    }

    fn daemon(&self, env: &mut Env, daemon: Daemon) -> anyhow::Result<Exit> {
        limits::check()?;
        daemon.run(env)
    }

    fn fetch(&self, env: &mut Env, magnet: Magnet) -> anyhow::Result<Exit> {
        limits::check()?;
        magnet.run(env)
    }
}
