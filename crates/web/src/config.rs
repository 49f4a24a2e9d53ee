//! The settings of a page.

use std::path::PathBuf;

use hashlane_server::Endpoint;

use super::credentials::Auth;
use super::links::Links;

/// The HTTP page of a client.
#[derive(Clone, Debug)]
pub struct Http {
    /// Addresses to listen at; port 0 for any free port.
    pub endpoint: Endpoint,
    /// Further origins under which browsers reach the page, through a proxy or by a name: `https://torrents.example`. Each
    /// is written as in the header `Origin` (RFC 6454 section 6.2): in lower case, without a default port and a path.
    pub origins: Vec<String>,
    /// Folders in which requests may place content, and in folders below them. Empty refuses such requests.
    pub folders: Vec<PathBuf>,
    /// Who may use the page.
    pub auth: Auth,
    /// Whether requests may fetch .torrent files from this machine and the local network.
    pub fetches_local: bool,
    /// Links to content for players. Several servers of a session share them.
    pub links: Links,
}
