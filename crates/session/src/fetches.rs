//! .torrent files that the session fetches from servers, by the proxy and the local address of all its connections.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashlane_client::{Fetch, Proxy};

use super::torrents::{Torrents, lock};

/// Maximum number of .torrent files that are fetched at once.
const MAX_FETCHES: usize = 8;

/// The fetches of requests.
#[derive(Default)]
pub(super) struct Fetches {
    proxy: Option<Proxy>,
    /// Length limit of a .torrent file in bytes.
    max_len: u64,
    /// The number of .torrent files that are being fetched.
    running: AtomicUsize,
}

impl Fetches {
    /// Returns fetches by a proxy, of files up to this length.
    pub(super) fn by(proxy: Option<Proxy>, max_len: u64) -> Self {
        Self {
            proxy,
            max_len,
            ..Self::default()
        }
    }

    /// Fetches the .torrent file of a URL; from this machine and the local network too, unless it `is_public`. The torrents are
    /// not locked meanwhile.
    pub(super) fn fetch(
        &self,
        torrents: &Mutex<Torrents>,
        url: String,
        is_public: bool,
    ) -> Result<Vec<u8>, String> {
        let _running = Running::of(&self.running)?;
        let fetch = Fetch {
            url,
            proxy: self.proxy.clone(),
            bind: lock(torrents).network().bind,
            timeout: None,
            max_len: self.max_len,
            is_public,
        };
        fetch.run().map_err(|error| error.to_string())
    }
}

/// A .torrent file that is being fetched.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    /// Counts one more, unless there are [`MAX_FETCHES`].
    fn of(running: &'a AtomicUsize) -> Result<Self, String> {
        let one_more = |n| (n < MAX_FETCHES).then_some(n + 1);
        let counted = running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.map_err(|n| format!("{n} .torrent files are being fetched: try again later"))?;
        Ok(Self(running))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
