//! URLs and other texts without passwords and passkeys, for logs, messages, links and pages.
//!
//! A private tracker recognises its user by a key in the path or the query of its URL. A key is recognised by its
//! place and its length. A server can repeat the key outside of a URL, so [`Secrets`] holds the keys of known URLs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound::{Included, Unbounded};

use data_encoding::BASE64_NOPAD;
use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::magnet::ENCODED;
use crate::{MetadataRef, Text};

/// The replacement for a secret. A URL that contains it was masked, and cannot be used.
pub const MASK: &str = "***";

/// Length from which a part of a path with a digit counts as a key.
const MIN_KEY_LEN: usize = 8;

/// Length from which any part of a path counts as a key.
const MIN_LONG_KEY_LEN: usize = 16;

/// Length from which a secret is replaced outside of its URL. Shorter ones are parts of ordinary words.
const MIN_KNOWN_LEN: usize = 4;

/// Number of characters of a URL up to which its secrets are known. No site has longer ones.
const MAX_URL_CHARS: usize = 4096;

/// Maximum number of known secrets. A hostile torrent can have millions of URLs.
const MAX_KNOWN: usize = 1000;

/// Maximum number of characters of a text from outside in a report. A server can send a text of any length.
const MAX_TEXT_CHARS: usize = 500;

/// The secrets in the URLs of a torrent: passwords, passkeys and other keys, in lower case, because a server can change the
/// letter case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeSet<Vec<u8>>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// Returns the secrets in the URLs of a torrent's trackers and web seeds. URLs of more than 4,096 characters are left out.
    pub fn of(keys: &MetadataRef<'_>) -> Self {
        let mut secrets = Self::of_trackers(keys);
        let seeds = keys.web_seeds().chain(keys.http_seeds());
        for url in seeds.take(MAX_KNOWN).filter(is_short_url) {
            // The path of a web seed of a private torrent can contain a key, too.
            if keys.is_private {
                secrets.add_url(&url.to_string());
            } else {
                secrets.add_web_seed(&url.to_string());
            }
        }
        secrets
    }

    /// Returns the secrets in the URLs of a torrent's trackers, with which a web seed can recognise its user, too.
    pub fn of_trackers(keys: &MetadataRef<'_>) -> Self {
        let mut secrets = Self::default();
        let urls = keys.trackers().flat_map(|tier| tier.urls());
        for url in urls.take(MAX_KNOWN).filter(is_short_url) {
            secrets.add_url(&url.to_string());
        }
        secrets
    }

    /// Adds the secrets in the URL of a tracker, or of any source of a private torrent.
    pub fn add_url(&mut self, url: &str) {
        self.add_parts(url, Rule::Tracker);
    }

    /// Adds the secrets in the URL of a web seed, and parts of its path that may be keys.
    pub fn add_web_seed(&mut self, url: &str) {
        self.add_parts(url, Rule::WebSeed);
        let path = url.split(['?', '#']).next().unwrap_or_default();
        for segment in path.split('/').filter(|segment| is_long_key(segment)) {
            self.add(segment);
        }
    }

    /// Adds a password or key, in the forms in which a server can repeat it: as it is, without its percent-encoding, and
    /// with the percent-encoding of RFC 3986.
    pub fn add(&mut self, secret: &str) {
        let decoded = percent_decode_str(secret).decode_utf8_lossy();
        self.add_form(secret);
        self.add_form(&decoded);
        self.add_form(&utf8_percent_encode(&decoded, ENCODED).to_string());
    }

    fn add_form(&mut self, form: &str) {
        if form.len() >= MIN_KNOWN_LEN && self.0.len() < MAX_KNOWN {
            self.0.insert(form.to_ascii_lowercase().into_bytes());
        }
    }

    /// Adds all secrets of `other`.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    fn add_parts(&mut self, url: &str, rule: Rule) {
        if let Some((login, _)) = authority(url).rsplit_once('@')
            && login.contains(':')
        {
            // The header `Authorization` of RFC 7617.
            let login = percent_decode_str(login).collect::<Vec<u8>>();
            self.add_form(&BASE64_NOPAD.encode(&login));
        }
        for part in parts(url, rule) {
            if let Part::Secret(secret) = part {
                self.add(secret);
            }
        }
    }

    /// Returns `true` if no secret is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text from outside for a report: with `***` for each known secret, with masked URLs, and with at most
    /// 500 characters.
    pub fn mask(&self, text: &str) -> String {
        shortened(masked_text(&self.mask_known(text)))
    }

    /// Returns a text of the torrent itself, such as its comment, with `***` for each known secret.
    pub fn mask_known(&self, text: &str) -> String {
        without(text, |from| {
            let mut until = self.0.range::<[u8], _>((Unbounded, Included(from)));
            until.next_back().map(Vec::as_slice)
        })
    }
}

/// The secrets of many torrents, in a text that can be of any of them.
#[derive(Default)]
pub struct AllSecrets(BTreeMap<Vec<u8>, usize>);

impl fmt::Debug for AllSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllSecrets").finish_non_exhaustive()
    }
}

impl AllSecrets {
    /// Adds the secrets of a torrent.
    pub fn add(&mut self, secrets: &Secrets) {
        for secret in &secrets.0 {
            match self.0.get_mut(secret) {
                Some(n_torrents) => *n_torrents += 1,
                None => drop(self.0.insert(secret.clone(), 1)),
            }
        }
    }

    /// Removes the secrets of a torrent, which were added before; other torrents keep theirs.
    pub fn remove(&mut self, secrets: &Secrets) {
        for secret in &secrets.0 {
            match self.0.get_mut(secret) {
                Some(n_torrents) if *n_torrents > 1 => *n_torrents -= 1,
                _ => drop(self.0.remove(secret)),
            }
        }
    }

    /// Returns a text from outside for a report, as [`Secrets::mask`] does. Takes time that grows with the logarithm of the
    /// number of secrets.
    pub fn mask(&self, text: &str) -> String {
        let known = without(text, |from| {
            let mut until = self.0.range::<[u8], _>((Unbounded, Included(from)));
            until.next_back().map(|(secret, _)| secret.as_slice())
        });
        shortened(masked_text(&known))
    }
}

/// Returns a text with `***` for each part that secrets cover. `last_until` returns the last secret, in the order of bytes,
/// that does not come after a text.
fn without<'s>(text: &str, last_until: impl Fn(&[u8]) -> Option<&'s [u8]>) -> String {
    let lower_case = text.to_ascii_lowercase().into_bytes();
    let longest_at = |start: usize| {
        let mut from = &lower_case[start..];
        loop {
            let last = last_until(from)?;
            if from.starts_with(last) {
                return Some(start + last.len());
            }
            // A secret at the start of the text is not longer than what both have in common.
            let common = from.iter().zip(last).take_while(|(a, b)| a == b);
            from = &from[..common.count()];
        }
    };
    let mut masked = String::with_capacity(text.len());
    // Everything before is in `masked`, and a secret covers the text up to `covered`.
    let (mut end, mut covered) = (0, 0);
    for start in 0..text.len() {
        let Some(longest) = longest_at(start) else {
            continue;
        };
        if start >= covered {
            masked.push_str(&text[end..start]);
            masked.push_str(MASK);
        }
        covered = covered.max(longest);
        end = covered;
    }
    masked.push_str(&text[end..]);
    masked
}

/// Returns the first 500 characters of a text.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT_CHARS) {
        text.truncate(end);
    }
    text
}

fn is_short_url(url: &Text<'_>) -> bool {
    url.chars().nth(MAX_URL_CHARS).is_none()
}

/// Returns a text in which every URL is masked as by [`masked_url`], and magnet links have only their info-hashes.
pub fn masked_text(text: &str) -> String {
    let text = with_short_links(text);
    let text = text.as_ref();
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(mark) = rest.find("://") {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let scheme = rest[..mark].trim_end_matches(is_scheme).len();
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>".contains(c);
        let after = mark + "://".len();
        let end = rest[after..]
            .find(ends)
            .map_or(rest.len(), |len| after + len);
        // A message that follows a URL is separated by a colon.
        let url = rest[scheme..end].trim_end_matches(':');
        masked.push_str(&rest[..scheme]);
        masked.push_str(&masked_url(url));
        rest = &rest[scheme + url.len()..];
    }
    masked.push_str(rest);
    masked
}

/// Returns a text whose magnet links have only their info-hashes. Trackers in a link are percent-encoded.
fn with_short_links(text: &str) -> Cow<'_, str> {
    const START: &str = "magnet:?";
    if !text.contains(START) {
        return Cow::Borrowed(text);
    }
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(START) {
        let parameters = &rest[start + START.len()..];
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'<>".contains(c);
        let end = parameters.find(ends).unwrap_or(parameters.len());
        // A message that follows a link is separated by a colon.
        let link = parameters[..end].trim_end_matches(':');
        let topics = link.split('&').filter(|field| field.starts_with("xt="));
        short.push_str(&rest[..start + START.len()]);
        short.push_str(&topics.collect::<Vec<_>>().join("&"));
        rest = &parameters[link.len()..];
    }
    short.push_str(rest);
    Cow::Owned(short)
}

/// Returns the URL of a tracker with `***` for its password, for keys in its path, and for the values of its query.
pub fn masked_url(url: &str) -> String {
    masked(url, Rule::Tracker)
}

/// Returns the URL of a web seed with `***` for its password, and for keys in its query. The path is kept, because its
/// file names can look like keys.
pub fn masked_web_seed(url: &str) -> String {
    masked(url, Rule::WebSeed)
}

/// The rule by which parts of a URL count as secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Keys in the path, and all values of the query.
    Tracker,
    /// Values and names of the query that look like keys.
    WebSeed,
}

/// A part of a URL.
enum Part<'u> {
    Shown(&'u str),
    Secret(&'u str),
}

fn masked(url: &str, rule: Rule) -> String {
    let shown = |part| match part {
        Part::Shown(text) => text,
        Part::Secret(_) => MASK,
    };
    parts(url, rule).into_iter().map(shown).collect()
}

/// Splits a URL into parts, which together are the URL. A text without a scheme begins with the authority.
fn parts(url: &str, rule: Rule) -> Vec<Part<'_>> {
    let (scheme, rest) = url.split_at(scheme_len(url));
    let (authority, rest) = rest.split_at(authority_len(rest));
    let (path, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let mut parts = vec![Part::Shown(scheme)];
    push_authority(&mut parts, authority);
    for segment in path.split_inclusive('/') {
        let name = segment.trim_end_matches('/');
        parts.push(part(name, rule == Rule::Tracker && is_key(name)));
        parts.push(Part::Shown(&segment[name.len()..]));
    }
    for field in query.split_inclusive(['?', '#', '&', ';']) {
        let text = field.trim_end_matches(['?', '#', '&', ';']);
        push_field(&mut parts, text, rule);
        parts.push(Part::Shown(&field[text.len()..]));
    }
    parts
}

/// Returns the length of the scheme of a URL with `://`, or 0.
fn scheme_len(url: &str) -> usize {
    url.find("://").map_or(0, |mark| mark + "://".len())
}

/// Returns the authority of a URL: login, host and port.
fn authority(url: &str) -> &str {
    let rest = &url[scheme_len(url)..];
    &rest[..authority_len(rest)]
}

/// Returns the length of the authority at the start of a text.
fn authority_len(text: &str) -> usize {
    // RFC 3986, section 3: the authority, the path, the query and the fragment end with these.
    let end_of = |text: &str| text.find(['/', '?', '#']).unwrap_or(text.len());
    let end = end_of(text);
    // A password may contain these characters, against the rule. Then it stands in the place of the port.
    let port = text[..end].rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) || port.ends_with(']');
    match text.rfind('@') {
        Some(at) if at > end && !is_port => at + end_of(&text[at..]),
        _ => end,
    }
}

fn part(text: &str, is_secret: bool) -> Part<'_> {
    if is_secret {
        Part::Secret(text)
    } else {
        Part::Shown(text)
    }
}

/// Adds the parts of an authority. The password is a secret, and so is a user without a password: a key.
fn push_authority<'u>(parts: &mut Vec<Part<'u>>, authority: &'u str) {
    let Some(at) = authority.rfind('@') else {
        parts.push(Part::Shown(authority));
        return;
    };
    let (login, host) = authority.split_at(at);
    match login.split_once(':') {
        Some((user, password)) => {
            let is_secret = password.is_empty() && !user.is_empty() || is_key(user);
            parts.extend([part(user, is_secret), Part::Shown(":")]);
            parts.push(Part::Secret(password));
        }
        None => parts.push(Part::Secret(login)),
    }
    parts.push(Part::Shown(host));
}

/// Adds the parts of a field of the query: `NAME=VALUE`, or one text. A name that looks like a key is a secret.
fn push_field<'u>(parts: &mut Vec<Part<'u>>, field: &'u str, rule: Rule) {
    let is_secret_name = match rule {
        Rule::Tracker => is_key,
        Rule::WebSeed => is_long_key,
    };
    let Some(mark) = field.find('=') else {
        let is_long = field.len() >= MIN_KEY_LEN;
        let is_secret = is_long && (rule == Rule::Tracker || is_long_key(field));
        parts.push(part(field, is_secret));
        return;
    };
    let (name, value) = (&field[..mark], &field[mark + 1..]);
    parts.extend([part(name, is_secret_name(name)), Part::Shown("=")]);
    parts.push(part(value, rule == Rule::Tracker || is_long_key(value)));
}

/// Returns `true` if a part of a path looks like a key.
fn is_key(segment: &str) -> bool {
    let has_digit = segment.bytes().any(|byte| byte.is_ascii_digit());
    segment.len() >= MIN_LONG_KEY_LEN || segment.len() >= MIN_KEY_LEN && has_digit
}

/// Returns `true` if a value is long and has only characters of keys and signatures. File names rarely look like this.
fn is_long_key(value: &str) -> bool {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "-_=%+".contains(c);
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    value.len() >= MIN_LONG_KEY_LEN && has_digit && value.chars().all(is_of_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        for (url, shown) in [
            ("udp://tracker.example:6969", "udp://tracker.example:6969"),
            (
                "http://tracker.example:80/announce",
                "http://tracker.example:80/announce",
            ),
            (
                &format!("https://t.example/{KEY}/announce"),
                "https://t.example/***/announce",
            ),
            (
                "http://t.example/a1b2c3d4/announce",
                "http://t.example/***/announce",
            ),
            (
                &format!("https://t.example/announce.php?passkey={KEY}&x=1"),
                "https://t.example/announce.php?passkey=***&x=***",
            ),
            (
                &format!("http://t.example/announce?{KEY}"),
                "http://t.example/announce?***",
            ),
            (
                "http://u:p@t.example/announce",
                "http://u:***@t.example/announce",
            ),
            (
                &format!("http://t.example/announce?{KEY}=1&a=b"),
                "http://t.example/announce?***=***&a=***",
            ),
            (&format!("http://{KEY}@t.example/"), "http://***@t.example/"),
            (
                &format!("http://{KEY}:@t.example/"),
                "http://***:***@t.example/",
            ),
            (
                &format!("http://{KEY}:x@t.example/"),
                "http://***:***@t.example/",
            ),
            ("http://:p@t.example", "http://:***@t.example"),
            ("http://u:a/b@t.example/c", "http://u:***@t.example/c"),
            ("http://u:a?b#c@t.example", "http://u:***@t.example"),
            ("http://[::1]/a@b", "http://[::1]/a@b"),
            (
                "t.example/announce?passkey=a",
                "t.example/announce?passkey=***",
            ),
            ("no URL", "no URL"),
        ] {
            assert_eq!(masked_url(url), shown);
        }
    }

    #[test]
    fn texts_are_masked() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        let text = format!("http://t.example/{KEY}/announce: see <http://t.example/?k={KEY}>");
        assert_eq!(
            masked_text(&text),
            "http://t.example/***/announce: see <http://t.example/?k=***>"
        );
        for (text, shown) in [
            ("no URL: a:b@c", "no URL: a:b@c"),
            ("http://host:80/a:b@c", "http://host:80/a:b@c"),
            ("http://u:p@host/x: 404", "http://u:***@host/x: 404"),
            ("ftp://u:a:b@c@host", "ftp://u:***@host"),
            (
                "\"socks5://u:p@h:1\" http://:q@h?",
                "\"socks5://u:***@h:1\" http://:***@h?",
            ),
            ("http://u@host http://", "http://***@host http://"),
            (
                "magnet:?tr=http%3A%2F%2Ft%2Fkey&xt=urn:btih:0&dn=x: is a 'magnet:?dn=x'",
                "magnet:?xt=urn:btih:0: is a 'magnet:?'",
            ),
        ] {
            assert_eq!(masked_text(text), shown);
        }
        assert_eq!(masked_text("://"), "://");
    }

    #[test]
    fn paths_of_web_seeds_remain() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        for (url, shown) in [
            (
                "https://h.example/a-long-name-of-2020/file.mkv?file=the%20name.mkv",
                "https://h.example/a-long-name-of-2020/file.mkv?file=the%20name.mkv",
            ),
            (
                &format!("https://u:p@h.example/f?token={KEY}&x=1"),
                "https://u:***@h.example/f?token=***&x=1",
            ),
            (
                &format!("https://h.example/f?{KEY}"),
                "https://h.example/f?***",
            ),
        ] {
            assert_eq!(masked_web_seed(url), shown);
        }
    }

    #[test]
    fn known_secrets_are_masked_everywhere() {
        let mut secrets = Secrets::default();
        assert!(secrets.is_empty());
        secrets
            .add_url("http://me:pass%20word@t.example/0123456789abcdef/announce?uid=77&k=secret");
        secrets.add_web_seed("https://w.example/the-file-of-2020.iso?token=0123456789abcdef0");
        secrets.add_web_seed("https://w.example/a123456789abcdef/f");
        assert_eq!(secrets.mask("no a123456789abcdef"), "no ***");
        let text =
            "user me, pass word or pass%20word, 0123456789ABCDEF0123456789abcdef0, secrets, 77";
        assert_eq!(secrets.mask(text), "user me, *** or ***, ***, ***s, 77");
        assert_eq!(secrets.mask("Pass%20word SECRET"), "*** ***");
        // The Base64 of "me:pass word", and a key with more percent-encoding than in its URL.
        assert_eq!(secrets.mask("Basic bWU6cGFzcyB3b3Jk"), "Basic ***");
        secrets.add("a/b+c=d");
        assert_eq!(secrets.mask("A%2fb%2Bc%3Dd"), "***");
        assert_eq!(
            secrets.mask("the-file-of-2020.iso: see http://x/?a=1"),
            "the-file-of-2020.iso: see http://x/?a=***"
        );
        assert_eq!(format!("{secrets:?}"), "Secrets { .. }");
    }

    #[test]
    fn secrets_that_overlap_are_covered_together() {
        let mut secrets = Secrets::default();
        for secret in ["abcd", "cdefgh", "abcx", "ghij", "zzzz"] {
            secrets.add(secret);
        }
        for (text, masked) in [
            ("abcde", "***e"),
            ("1abcdefgh2", "1***2"),
            ("abcdefghij abc", "*** abc"),
            ("abcdabcxcdef", "******cdef"),
            ("zzzzzz", "***"),
            ("éabcdé", "é***é"),
            ("", ""),
        ] {
            assert_eq!(secrets.mask_known(text), masked, "{text}");
        }
    }

    #[test]
    fn a_text_can_have_the_secrets_of_any_torrent() {
        let [mut one, mut two] = [Secrets::default(), Secrets::default()];
        one.add("first");
        one.add("shared");
        two.add("shared");
        let mut all = AllSecrets::default();
        all.add(&one);
        all.add(&two);
        assert_eq!(
            all.mask("first SHARED http://h/?k=v"),
            "*** *** http://h/?k=***"
        );
        all.remove(&one);
        assert_eq!(all.mask("first shared"), "first ***");
        all.remove(&two);
        assert_eq!(all.mask("first shared"), "first shared");
        assert_eq!(format!("{all:?}"), "AllSecrets { .. }");
    }

    #[test]
    fn long_texts_are_cut() {
        let mut secrets = Secrets::default();
        secrets.add("secret");
        assert_eq!(secrets.mask(&"é".repeat(100_000)), "é".repeat(500));
        let text = format!("{}secret", "x".repeat(498));
        assert_eq!(secrets.mask(&text), format!("{}**", "x".repeat(498)));
        for n in 0..2 * MAX_KNOWN {
            secrets.add_url(&format!("http://t.example/?k=value{n}"));
        }
        assert_eq!(secrets.0.len(), MAX_KNOWN);
    }

    #[test]
    fn characters_are_not_cut() {
        for text in [
            "http://h/?éééééééééé",
            "é://é/ééééééééééé?é=é",
            "?é://",
            "http://h?é&ééééééééé",
        ] {
            let _ = masked_text(text);
        }
    }
}
