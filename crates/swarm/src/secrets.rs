//! The secrets that texts of a session can contain.

use hashlane_metainfo::{Magnet, Secrets, Torrent};

use crate::{Settings, Sources};

/// Returns the password of the proxy.
pub(crate) fn of_settings(settings: &Settings) -> Secrets {
    let mut secrets = Secrets::default();
    if let Some((_, password)) = settings
        .proxy
        .as_ref()
        .and_then(|proxy| proxy.login.as_ref())
    {
        secrets.add(password);
    }
    secrets
}

/// Returns the secrets in the URLs of a torrent.
pub(crate) fn of_torrent(torrent: &Torrent, sources: &Sources) -> Secrets {
    let keys = torrent.metadata_ref();
    let mut secrets = of_sources(sources, keys.is_private);
    secrets.extend(&Secrets::of(&keys));
    secrets
}

/// Returns the secrets in the URLs of a magnet link.
pub(crate) fn of_magnet(magnet: &Magnet) -> Secrets {
    let sources = Sources {
        trackers: magnet.trackers.clone(),
        web_seeds: magnet.web_seeds.clone(),
    };
    of_sources(&sources, false)
}

fn of_sources(sources: &Sources, is_private: bool) -> Secrets {
    let mut secrets = Secrets::default();
    for url in &sources.trackers {
        secrets.add_url(url);
    }
    for url in &sources.web_seeds {
        add_web_seed(&mut secrets, url, is_private);
    }
    secrets
}

/// The path of a web seed of a private torrent can contain a key, too.
fn add_web_seed(secrets: &mut Secrets, url: &str, is_private: bool) {
    if is_private {
        secrets.add_url(url);
    } else {
        secrets.add_web_seed(url);
    }
}
