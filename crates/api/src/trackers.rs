//! Changes of a torrent's trackers. A request names trackers by URLs or positions, and the client gets all of them.

use hashlane_metainfo::{is_url, masked_url};

use crate::refusal::Refusal;

/// Maximum number of trackers of a torrent.
const MAX_TRACKERS: usize = 1_000;

/// URLs of trackers. Those of one tier are tried in order, and those of the next one if all fail (BEP 12).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiers(Vec<Vec<String>>);

impl From<Vec<Vec<String>>> for Tiers {
    /// Takes the URLs of each tier. Tiers without URLs are left out.
    fn from(mut tiers: Vec<Vec<String>>) -> Self {
        tiers.retain(|tier| !tier.is_empty());
        Self(tiers)
    }
}

impl Tiers {
    /// Returns the tiers of these URLs, each with the number of its tier.
    pub fn of<'u>(urls: impl IntoIterator<Item = (u32, &'u str)>) -> Self {
        let mut tiers: Vec<(u32, Vec<String>)> = Vec::new();
        for (tier, url) in urls {
            match tiers.last_mut() {
                Some((last, urls)) if *last == tier => urls.push(url.to_owned()),
                _ => tiers.push((tier, vec![url.to_owned()])),
            }
        }
        Self(tiers.into_iter().map(|(_, urls)| urls).collect())
    }

    /// Returns the tiers of a text with a URL on each line. An empty line ends a tier.
    pub fn parse(text: &str) -> Self {
        let mut tiers = vec![Vec::new()];
        for line in text.lines().map(str::trim) {
            match (line, tiers.last_mut()) {
                ("", _) => tiers.push(Vec::new()),
                (url, Some(tier)) => tier.push(url.to_owned()),
                (_, None) => {}
            }
        }
        tiers.into()
    }

    /// Returns `true` if a tier has this URL.
    pub fn contains(&self, url: &str) -> bool {
        self.0.iter().flatten().any(|known| known == url)
    }

    /// Adds a tracker in a tier after the others. A known one stays where it is.
    pub fn add(&mut self, url: String) {
        if !self.contains(&url) {
            self.0.push(vec![url]);
        }
    }

    /// Removes a tracker. Returns `false` if it is unknown.
    pub fn remove(&mut self, url: &str) -> bool {
        let is_known = self.contains(url);
        for tier in &mut self.0 {
            tier.retain(|known| known != url);
        }
        self.0.retain(|tier| !tier.is_empty());
        is_known
    }

    /// Replaces a tracker in its place. Returns `false` if it is unknown.
    pub fn replace(&mut self, url: &str, new: &str) -> bool {
        let mut known = self.0.iter_mut().flatten();
        let found = known.find(|known| *known == url);
        found.map(|known| new.clone_into(known)).is_some()
    }

    /// Returns the URL that a request names: as it is, or with its secrets masked as programs see it.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if no URL fits, or if several masked URLs do.
    pub fn named(&self, url: &str) -> Result<&str, Refusal> {
        let invalid = |reason: &str| Refusal::Invalid(reason.to_owned());
        let all = || self.0.iter().flatten();
        if let Some(known) = all().find(|known| *known == url) {
            return Ok(known);
        }
        let mut masked = all().filter(|known| masked_url(known) == url);
        match (masked.next(), masked.next()) {
            (Some(known), None) => Ok(known),
            (None, _) => Err(invalid("url: the torrent does not have this tracker")),
            (Some(_), Some(_)) => Err(invalid(
                "url: several trackers of the torrent are shown like this; use the whole URL",
            )),
        }
    }

    /// Uses other trackers. A URL that is that of a present one with its secrets masked, as programs see it, stays as it is.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if several present URLs are masked alike.
    pub fn set(&mut self, new: Vec<Vec<String>>) -> Result<(), Refusal> {
        let is_masked = |url: &String| {
            let mut known = self.0.iter().flatten();
            !self.contains(url) && known.any(|known| masked_url(known) == *url)
        };
        let named = |url: String| {
            if is_masked(&url) {
                return self.named(&url).map(str::to_owned);
            }
            Ok(url)
        };
        let tiers = new
            .into_iter()
            .map(|tier| tier.into_iter().map(named).collect::<Result<_, _>>());
        *self = Self::from(tiers.collect::<Result<Vec<_>, _>>()?);
        Ok(())
    }

    /// Returns the URLs for the client.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if there are more than 1,000, or if one is no URL.
    pub fn into_urls(self) -> Result<Vec<Vec<String>>, Refusal> {
        if self.0.iter().map(Vec::len).sum::<usize>() > MAX_TRACKERS {
            let reason = format!("more than {MAX_TRACKERS} trackers");
            return Err(Refusal::Invalid(reason));
        }
        // Without the URL, which can have a passkey.
        if !self.0.iter().flatten().all(|url| is_url(url)) {
            let reason = "a tracker is no URL: a scheme, `://` and no white space";
            return Err(Refusal::Invalid(reason.to_owned()));
        }
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trackers_are_added_replaced_and_removed() {
        let mut tiers = Tiers::parse("\n http://a/ \nudp://b\n\n\nhttp://c\n");
        let urls = |tiers: &Tiers| tiers.clone().into_urls().unwrap();
        assert_eq!(
            urls(&tiers),
            [vec!["http://a/", "udp://b"], vec!["http://c"]]
        );
        tiers.add("http://c".into());
        tiers.add("http://d".into());
        assert!(tiers.replace("udp://b", "udp://e"));
        assert!(!tiers.replace("udp://b", "udp://f"));
        assert!(tiers.remove("http://c"));
        assert!(!tiers.remove("http://c"));
        assert_eq!(
            urls(&tiers),
            [vec!["http://a/", "udp://e"], vec!["http://d"]]
        );
        tiers.add("no url?passkey=secret".into());
        let error = tiers.into_urls().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        let tiers = Tiers::from(vec![
            vec!["http://a/?key=0123456789".into(), "http://b/".into()],
            vec![],
            vec!["http://c/?key=1".into(), "http://c/?key=2".into()],
        ]);
        let shown = masked_url("http://a/?key=0123456789");
        assert!(!shown.contains("0123456789"), "{shown}");
        assert_eq!(tiers.named(&shown), Ok("http://a/?key=0123456789"));
        assert_eq!(tiers.named("http://c/?key=2"), Ok("http://c/?key=2"));
        for unclear in [&*masked_url("http://c/?key=1"), "http://d/"] {
            assert!(tiers.named(unclear).is_err(), "{unclear}");
        }
        let mut changed = tiers.clone();
        let new = |urls: &[&str]| vec![urls.iter().map(|url| (*url).to_owned()).collect()];
        changed.set(new(&["http://d/", &shown])).unwrap();
        assert_eq!(urls(&changed), [["http://d/", "http://a/?key=0123456789"]]);
        let unclear = new(&[&*masked_url("http://c/?key=1")]);
        assert!(tiers.clone().set(unclear).is_err());
        let many = "http://a\n".repeat(MAX_TRACKERS + 1);
        assert!(Tiers::parse(&many).into_urls().is_err());
    }
}
