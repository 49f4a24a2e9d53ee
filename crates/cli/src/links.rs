//! Printed URLs and magnet links. A passkey identifies its owner to a private tracker, so that passkeys are printed
//! only if the user asks for them.

use std::fmt::{self, Display};

use hashlane_metainfo::{Magnet, MetadataRef, Secrets, Text, Torrent, masked_url, masked_web_seed};

use crate::output::text::count;

/// The treatment of passkeys and passwords in URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passkeys {
    Hide,
    Show,
}

/// Maximum number of URLs in the link that `show` prints. A hostile torrent can have millions.
const MAX_URLS: usize = 100;

/// Maximum number of characters of a URL or name in that link. A longer URL is masked as a whole.
const MAX_CHARS: usize = 4096;

impl Passkeys {
    /// Returns how the URLs and texts of a torrent are shown.
    pub(crate) fn of(self, keys: &MetadataRef<'_>) -> Mask {
        let hidden = || Hidden {
            is_private: keys.is_private,
            of_trackers: Secrets::of_trackers(keys),
            all: Secrets::of(keys),
        };
        Mask((self == Self::Hide).then(hidden))
    }

    /// Returns URLs of a magnet link as text.
    pub(crate) fn of_link(
        self,
        urls: &[String],
        masked: fn(&str) -> String,
    ) -> impl Iterator<Item = String> + Clone {
        urls.iter().map(move |url| match self {
            Self::Show => url.clone(),
            Self::Hide => masked(url),
        })
    }
}

/// How the URLs and texts of one torrent are shown.
#[derive(Debug)]
pub(crate) struct Mask(Option<Hidden>);

/// What is not shown of a torrent.
#[derive(Debug)]
struct Hidden {
    is_private: bool,
    /// The secrets in the URLs of trackers.
    of_trackers: Secrets,
    /// These, and what may be a key in the URLs of web seeds.
    all: Secrets,
}

impl Mask {
    /// Returns the URL of a tracker as text.
    pub(crate) fn tracker(&self, url: Text<'_>) -> String {
        self.masked_by(url, |_, url| masked_url(url))
    }

    /// Returns the URL of a web seed as text.
    pub(crate) fn web_seed(&self, url: Text<'_>) -> String {
        self.masked_by(url, Hidden::web_seed)
    }

    /// Returns a text of the torrent, such as its comment. Sites repeat a user's passkey in it.
    pub(crate) fn text<'t>(&self, text: Text<'t>) -> Shown<'t> {
        match &self.0 {
            Some(hidden) if is_long(text) && !hidden.all.is_empty() => {
                Shown::Masked("***".to_owned())
            }
            Some(hidden) if !hidden.all.is_empty() => {
                Shown::Masked(hidden.all.mask_known(&text.to_string()))
            }
            _ => Shown::All(text),
        }
    }

    /// Returns the value of a key that Hashlane does not know: it can be a URL, or repeat a passkey.
    pub(crate) fn value(&self, text: &str) -> String {
        match &self.0 {
            Some(hidden) => hidden.all.mask(text),
            None => text.to_owned(),
        }
    }

    fn masked_by(&self, url: Text<'_>, masked: fn(&Hidden, &str) -> String) -> String {
        match &self.0 {
            None => url.to_string(),
            Some(_) if is_long(url) => "***".to_owned(),
            Some(hidden) => masked(hidden, &url.to_string()),
        }
    }
}

impl Hidden {
    fn web_seed(&self, url: &str) -> String {
        let masked = if self.is_private {
            masked_url(url)
        } else {
            masked_web_seed(url)
        };
        self.of_trackers.mask_known(&masked)
    }
}

/// A text of a torrent, as it is shown. One without secrets can be as long as the torrent, and is not copied.
#[derive(Debug)]
pub(crate) enum Shown<'t> {
    All(Text<'t>),
    Masked(String),
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(text) => Display::fmt(text, f),
            Self::Masked(text) => f.write_str(text),
        }
    }
}

fn is_long(text: Text<'_>) -> bool {
    text.chars().nth(MAX_CHARS).is_some()
}

/// A magnet link, and the number of URLs that it lacks because they have passkeys.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) magnet: Magnet,
    trackers: usize,
    web_seeds: usize,
    is_private: bool,
}

impl Link {
    /// Returns the link of a torrent. If passkeys are hidden, the link lacks URLs with passkeys, and all URLs of a private
    /// torrent.
    pub(crate) fn of(torrent: &Torrent, passkeys: Passkeys) -> Self {
        let mut link = Self {
            magnet: Magnet::of(torrent),
            trackers: 0,
            web_seeds: 0,
            is_private: torrent.metadata_ref().is_private,
        };
        if let Mask(Some(hidden)) = passkeys.of(&torrent.metadata_ref()) {
            // A tracker can also recognise its user by a key that is too short to be detected.
            let remove = |urls: &mut Vec<String>, masked: &dyn Fn(&str) -> String| {
                let before = urls.len();
                urls.retain(|url| !hidden.is_private && masked(url) == *url);
                before - urls.len()
            };
            link.trackers = remove(&mut link.magnet.trackers, &masked_url);
            let web_seed = |url: &str| hidden.web_seed(url);
            link.web_seeds = remove(&mut link.magnet.web_seeds, &web_seed);
        }
        link
    }

    /// Returns the link that `show` prints: without the name and URLs if they are too many or too long to print.
    pub(crate) fn short(torrent: &Torrent, passkeys: Passkeys) -> Self {
        let keys = torrent.metadata_ref();
        if torrent.name().as_bytes().len() <= MAX_CHARS && has_few_urls(&keys) {
            return Self::of(torrent, passkeys);
        }
        let mut magnet = Magnet::new(torrent.info_hashes());
        magnet.length = Some(torrent.content_length());
        Self {
            magnet,
            trackers: 0,
            web_seeds: 0,
            is_private: keys.is_private,
        }
    }

    /// Removes all trackers.
    pub(crate) fn remove_trackers(&mut self) {
        self.magnet.trackers.clear();
        self.trackers = 0;
    }

    /// Removes all web seeds.
    pub(crate) fn remove_web_seeds(&mut self) {
        self.magnet.web_seeds.clear();
        self.web_seeds = 0;
    }

    /// Returns a note about the URLs that the link lacks, and how to include them.
    pub(crate) fn note(&self) -> Option<String> {
        let what = [(self.trackers, "tracker"), (self.web_seeds, "web seed")];
        let what = what.into_iter().filter(|(n, _)| *n > 0);
        let what: Vec<String> = what.map(|(n, noun)| count(n as u64, noun)).collect();
        if what.is_empty() {
            return None;
        }
        let reason = if self.is_private {
            "of a private torrent"
        } else {
            "with a passkey"
        };
        let what = what.join(" and ");
        Some(format!(
            "{what} {reason} left out of the magnet link: --show-passkey includes all"
        ))
    }
}

fn has_few_urls(keys: &MetadataRef<'_>) -> bool {
    let mut n_urls = 0;
    let mut fits = |url: Text<'_>| {
        n_urls += 1;
        n_urls <= MAX_URLS && !is_long(url)
    };
    keys.trackers().flat_map(|tier| tier.urls()).all(&mut fits)
        && keys.web_seeds().all(&mut fits)
        && keys.nodes().all(|(host, _)| fits(host))
}

/// Returns an argument for a message. A magnet link is reduced to its info-hash, and a URL to the names of its file and
/// host, because the rest can contain passkeys.
pub fn without_secrets(given: impl Display) -> String {
    let given = given.to_string();
    if Magnet::has_scheme(given.trim()) {
        let mut parameters = given.trim().split(['?', '&']);
        let topic = parameters.find(|parameter| parameter.starts_with("xt="));
        return topic.map_or("magnet link".into(), |topic| format!("magnet:?{topic}"));
    }
    let masked = masked_url(&given);
    let Some((scheme, rest)) = masked.split_once("://") else {
        // A URL with a typing error has the same keys.
        let is_like_url = ["http:/", "https:/", "http//", "https//"]
            .iter()
            .any(|start| given.starts_with(start));
        return if is_like_url {
            "invalid URL".into()
        } else {
            given
        };
    };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = path.split_once('/').unwrap_or((path, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    match path.rsplit('/').next() {
        _ if host.is_empty() => format!("{scheme} URL"),
        Some(file) if !file.is_empty() && !file.contains("***") => format!("{file} of {host}"),
        _ => format!("torrent of {host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_url() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        for (given, name) in [
            ("a/b.torrent", "a/b.torrent"),
            (
                "magnet:?dn=x&xt=urn:btih:0&tr=http://t/k",
                "magnet:?xt=urn:btih:0",
            ),
            (&format!("http://site/dl?passkey={KEY}"), "dl of site"),
            (
                &format!("http://{KEY}@site:80/a/x.torrent"),
                "x.torrent of site:80",
            ),
            (&format!("https://u:p@site/rss/{KEY}"), "torrent of site"),
            ("https://site?k=v/x", "torrent of site"),
            ("https://", "https URL"),
            ("http://u:pa/ss@h/x.torrent", "x.torrent of h"),
            ("http://u:Passw0rd#x@h/zz", "zz of h"),
            ("https:/u:p@h/x", "invalid URL"),
        ] {
            assert_eq!(without_secrets(given), name);
        }
    }
}
