//! The trackers that a torrent has asked, and their last answers.

use hashlane_api::TrackerState;
use hashlane_metainfo::host_and_port;
use serde::{Deserialize, Serialize};

/// Maximum number of trackers of a torrent that are remembered.
const MAX_TRACKERS: usize = 50;

/// Maximum number of failures of a torrent's trackers and web seeds that are remembered.
const MAX_FAILURES: usize = 100;

/// Maximum number of characters of an error.
const MAX_ERROR_LEN: usize = 200;

/// A tracker that a torrent has asked, and its last answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Announce {
    /// The host of the tracker's URL, with the port if the URL names one. URLs of one host count as one tracker.
    pub tracker: String,
    /// The reason why the last announcement failed, without passkeys and of at most 200 characters; `None` if the tracker
    /// answered.
    pub error: Option<String>,
}

/// Remembers what the trackers of a torrent answered. A tracker works if any of its URLs was reached from any address of this
/// machine. Without a new result, for example while an announcement waits for its answer, the last one stays.
///
/// `trackers` are the URL, state and message of each tracker.
pub(crate) fn update<'t>(
    announces: &mut Vec<Announce>,
    trackers: impl IntoIterator<Item = (&'t str, TrackerState, &'t str)>,
) {
    let mut hosts: Vec<(&str, TrackerState, &str)> = Vec::new();
    for (url, state, message) in trackers {
        let host = host_and_port(url);
        match hosts.iter_mut().find(|(known, ..)| *known == host) {
            Some(known) if state > known.1 => *known = (host, state, message),
            Some(_) => {}
            None => hosts.push((host, state, message)),
        }
    }
    let result = |(host, state, message): (&str, TrackerState, &str)| {
        let error = match state {
            TrackerState::Working => None,
            TrackerState::Failed => Some(message.chars().take(MAX_ERROR_LEN).collect()),
            TrackerState::Unused | TrackerState::Updating => {
                let mut before = announces.iter();
                return before.find(|known| known.tracker == host).cloned();
            }
        };
        let tracker = host.to_owned();
        Some(Announce { tracker, error })
    };
    *announces = hosts
        .into_iter()
        .filter_map(result)
        .take(MAX_TRACKERS)
        .collect();
}

/// The failures of a torrent's trackers and web seeds that were reported.
#[derive(Debug, Default)]
pub(crate) struct Failures(Vec<String>);

impl Failures {
    /// Records a failure: the URL, `: ` and the reason. Returns `true` unless it was
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hosts with their errors.
    fn found(announces: &[Announce]) -> Vec<(&str, Option<&str>)> {
        let pairs = announces.iter();
        pairs
            .map(|it| (it.tracker.as_str(), it.error.as_deref()))
            .collect()
    }

    #[test]
    fn a_host_fails_if_none_of_its_urls_works() {
        use TrackerState::{Failed, Unused, Updating, Working};
        let mut announces = Vec::new();
        let one = "http://user:***@one.example:80/***/announce";
        let again = "http://one.example:80/other?passkey=***";
        let other = "udp://[::1]:6969";
        let failed = (one, Failed, "no: unregistered torrent");
        let new = ("udp://new.example", Updating, "");
        update(&mut announces, [failed, (other, Working, ""), new]);
        let expected = [
            ("one.example:80", Some("no: unregistered torrent")),
            ("[::1]:6969", None),
        ];
        assert_eq!(found(&announces), expected);
        // The next announcement waits for its answer.
        update(&mut announces, [(one, Updating, ""), (other, Unused, "")]);
        assert_eq!(found(&announces), expected);
        let works = (again, Working, "");
        for trackers in [[works, failed], [failed, works]] {
            update(&mut announces, trackers);
            assert_eq!(found(&announces), [("one.example:80", None)]);
        }
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
        let reason = "\u{e9}".repeat(1000);
        let urls = (0..2 * MAX_TRACKERS).map(|n| format!("http://t{n}.example/"));
        let urls: Vec<String> = urls.collect();
        let failed = |url| (url, TrackerState::Failed, &*reason);
        update(&mut announces, urls.iter().map(|url| failed(url.as_str())));
        assert_eq!(announces.len(), MAX_TRACKERS);
        let error = announces[0].error.as_ref().unwrap();
        assert_eq!(error.chars().count(), MAX_ERROR_LEN);
    }
}
