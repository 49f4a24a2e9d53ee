//! The trackers that a torrent has asked, and their last answers.

use serde::{Deserialize, Serialize};

/// Maximum number of trackers of a torrent that are remembered.
const MAX_TRACKERS: usize = 50;

/// Maximum number of failures of a torrent's trackers and web seeds that are remembered.
const MAX_FAILURES: usize = 100;

/// Maximum number of characters of an error.
const MAX_ERROR_LEN: usize = 200;

/// A tracker that a torrent has asked, and its last answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// The host of the tracker's URL, with the port if the URL names one. URLs of one host count as one tracker.
    pub tracker: String,
    /// The reason why the last announcement failed, without passkeys and of at most 200 characters; `None` if the tracker
    /// answered.
    pub error: Option<String>,
}

/// Remembers the answer of a tracker.
pub(crate) fn on_reply(announces: &mut Vec<Announce>, url: &str) {
    set(announces, url, None);
}

/// Remembers a failure, which the session reports as the URL of the tracker, `: ` and the reason.
pub(crate) fn on_failure(announces: &mut Vec<Announce>, failure: &str) {
    let (url, reason) = failure.split_once(": ").unwrap_or((failure, ""));
    set(announces, url, Some(reason));
}

fn set(announces: &mut Vec<Announce>, url: &str, error: Option<&str>) {
    let tracker = host_of(url);
    let error = error.map(|error| error.chars().take(MAX_ERROR_LEN).collect());
    if let Some(known) = announces.iter_mut().find(|known| known.tracker == tracker) {
        known.error = error;
    } else if announces.len() < MAX_TRACKERS {
        announces.push(Announce {
            tracker: tracker.to_owned(),
            error,
        });
    }
}

/// The failures of a torrent's trackers and web seeds that were reported. A tracker with several addresses can fail in several ways.
#[derive(Debug, Default)]
pub(crate) struct Failures(Vec<String>);

impl Failures {
    /// Records a failure, which the session reports as the URL of the tracker, `: ` and the reason. Returns `true` unless it was
    /// recorded since the tracker last answered.
    pub(crate) fn on_failure(&mut self, failure: &str) -> bool {
        if self.0.iter().any(|known| known == failure) {
            return false;
        }
        if self.0.len() == MAX_FAILURES {
            self.0.remove(0);
        }
        self.0.push(failure.to_owned());
        true
    }

    /// Forgets the failures of a tracker that answered.
    pub(crate) fn on_reply(&mut self, url: &str) {
        let is_of = |failure: &String| {
            let rest = failure.strip_prefix(url);
            rest.is_some_and(|rest| rest.starts_with(": "))
        };
        self.0.retain(|failure| !is_of(failure));
    }
}

/// Returns the host and port of a URL, without a user name and a password.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_of_each_host_counts() {
        let mut announces = Vec::new();
        on_failure(
            &mut announces,
            "http://user:***@one.example:80/***/announce: no: unregistered torrent",
        );
        on_reply(&mut announces, "udp://[::1]:6969");
        let expected = [
            ("one.example:80", Some("no: unregistered torrent")),
            ("[::1]:6969", None),
        ];
        let found = |announces: &[Announce]| -> Vec<(String, Option<String>)> {
            let pairs = announces.iter().cloned();
            pairs.map(|it| (it.tracker, it.error)).collect()
        };
        let owned = expected.map(|(host, error)| (host.to_owned(), error.map(str::to_owned)));
        assert_eq!(found(&announces), owned);
        on_reply(&mut announces, "http://one.example:80/other?passkey=***");
        assert_eq!(announces[0].error, None);
        assert_eq!(announces.len(), 2);
    }

    #[test]
    fn a_failure_is_new_once_until_the_tracker_answers() {
        let mut failures = Failures::default();
        let (one, other) = ("http://a.example/: no", "udp://b.example: timed out");
        assert!(failures.on_failure(one) && failures.on_failure(other));
        assert!(!failures.on_failure(one) && !failures.on_failure(other));
        assert!(failures.on_failure("http://a.example/: not registered"));
        assert!(!failures.on_failure(one));
        failures.on_reply("http://a.example/");
        assert!(failures.on_failure(one) && !failures.on_failure(other));
        for n in 0..2 * MAX_FAILURES {
            assert!(failures.on_failure(&format!("http://t{n}.example/: no")));
        }
        assert_eq!(failures.0.len(), MAX_FAILURES);
    }

    /// A torrent can have thousands of trackers, and a tracker can send a long message.
    #[test]
    fn answers_are_limited() {
        let mut announces = Vec::new();
        for n in 0..2 * MAX_TRACKERS {
            let reason = "\u{e9}".repeat(1000);
            on_failure(&mut announces, &format!("http://t{n}.example/: {reason}"));
        }
        assert_eq!(announces.len(), MAX_TRACKERS);
        let error = announces[0].error.as_ref().unwrap();
        assert_eq!(error.chars().count(), MAX_ERROR_LEN);
    }
}
