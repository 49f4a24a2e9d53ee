//! Answers of a daemon for people.

use std::time::Duration;

use hashlane_api::{
    Category, Goal, Limit, LimitValue, Named, Reloaded, RuleEffect, Status, Target, TorrentRules,
};

use crate::output::text::{Grouped, count};
use hashlane_api::Size;

/// What follows the reason that there is no such torrent.
pub(super) const NO_TORRENT: &str =
    "; name its info-hash, at least the first 4 digits, or its exact name";

/// Describes a reload.
pub(super) fn reloaded(reloaded: &Reloaded) -> Vec<String> {
    let needed = reloaded.restart.iter();
    let needed = needed.map(|name| format!("{name}: changed, needs a restart of the daemon"));
    std::iter::once("reloaded".to_owned())
        .chain(needed)
        .collect()
}

/// Describes the state of the daemon.
pub(super) fn status(status: &Status) -> Vec<String> {
    let mut lines = vec![
        format!(
            "hashlane {}, process {}{}",
            status.version,
            status.process,
            status
                .state
                .as_ref()
                .map_or_else(String::new, |state| format!(", {state}")),
        ),
        format!(
            "{}: {} downloading, {} serving, {} verifying, {} queued, {} paused, {} failed or waiting",
            count(status.torrents, "torrent"),
            Grouped(status.downloading),
            Grouped(status.serving),
            Grouped(status.verifying),
            Grouped(status.queued),
            Grouped(status.paused),
            Grouped(status.failed),
        ),
        format!(
            "down {}/s, up {}/s; {} received and {} sent in all",
            Size(status.down_bytes_per_second),
            Size(status.up_bytes_per_second),
            Size(status.received_bytes),
            Size(status.sent_bytes),
        ),
    ];
    if status.alternative {
        lines.push("the alternative rate limits are on".to_owned());
    }
    if status.adds_paused {
        lines.push("torrents that programs add start paused".to_owned());
    }
    if !status.requested_limits.is_empty() {
        lines.push(format!(
            "set by requests, not by the configuration: {}; see `hashlane ctl limits`",
            status.requested_limits.join(", ")
        ));
    }
    let problems = status.problems.iter();
    lines.extend(problems.map(|problem| format!("problem: {problem}")));
    lines
}

/// Describes a limit of all torrents together.
pub(super) fn limit(limit: &Limit) -> String {
    let is_rate = limit.limit.ends_with("-down") || limit.limit.ends_with("-up");
    let text = |value: Option<LimitValue>| match value {
        None => "none".to_owned(),
        Some(LimitValue::Whole(bytes)) if is_rate => format!("{}/s", Size(bytes)),
        Some(LimitValue::Whole(seconds)) if limit.limit.ends_with("-time") => {
            format!("{seconds} s")
        }
        Some(LimitValue::Whole(number)) => number.to_string(),
        Some(LimitValue::Ratio(ratio)) => ratio.to_string(),
    };
    let line = format!("{}: {}", limit.limit, text(limit.value));
    if limit.requested {
        let configured = text(limit.configured);
        format!("{line}, set by a request; configured: {configured}")
    } else {
        line
    }
}

/// Describes what rules set for a torrent: a line for each setting.
pub(super) fn rules(torrent: &TorrentRules) -> Vec<String> {
    let line = |effect: &RuleEffect| {
        let RuleEffect {
            rule,
            setting,
            value,
            overridden,
        } = effect;
        let number = value.parse();
        let value = match (&**setting, number) {
            ("max-down" | "max-up" | "throttle", Ok(bytes)) => format!("{}/s", Size(bytes)),
            ("seed-time" | "idle-time", Ok(seconds)) => format!("{seconds} s"),
            _ => value.clone(),
        };
        let wins = if *overridden {
            ", but the torrent has a value of its own"
        } else {
            ""
        };
        named(
            &torrent.torrent,
            &format!("{setting} {value} by rule `{rule}`{wins}"),
        )
    };
    let mut lines: Vec<String> = torrent.effects.iter().map(line).collect();
    if torrent.reached_goal {
        lines.push(named(&torrent.torrent, "has reached its goal"));
    }
    lines
}

/// Describes a category.
pub(super) fn category(category: &Category) -> String {
    let folder = category.folder.as_deref();
    let mut parts = vec![
        count(category.torrents, "torrent"),
        format!("folder {}", folder.unwrap_or("of the daemon")),
    ];
    let Goal { ratio, time, idle } = category.goal;
    let seconds = |what, time: Target<Duration>| match time {
        Target::Inherited => None,
        Target::At(time) => Some(format!("{what} {} s", time.as_secs())),
        Target::Never => Some(format!("no limit of {what}")),
    };
    parts.extend(match ratio {
        Target::Inherited => None,
        Target::At(ratio) => Some(format!("ratio {ratio}")),
        Target::Never => Some("no limit of ratio".to_owned()),
    });
    parts.extend(seconds("seeding time", time));
    parts.extend(seconds("idle time", idle));
    if category.configured {
        parts.push("set in the configuration".to_owned());
    }
    format!("{}: {}", category.name, parts.join(", "))
}

/// Returns what was done, in words.
pub(super) fn done(action: &str) -> &str {
    match action {
        "pause" => "paused",
        "resume" => "resumed",
        "verify" => "verifying",
        "remove" => "removed",
        "relocate" => "moving",
        "queue" => "moved in the queue",
        "rename" => "renamed",
        "reannounce" => "announced if it runs",
        "add_peer" => "connecting",
        _ => "changed",
    }
}

/// Describes what was done with a torrent.
pub(super) fn named(torrent: &Named, what: &str) -> String {
    let Named { identity, title } = torrent;
    match identity.info_hash().map(|hash| hash.to_string()) {
        Some(hash) if hash == *title => format!("{hash}: {what}"),
        Some(hash) => format!("{hash}: {what}: {title}"),
        None => format!("{}: {what}: {title}", identity.number),
    }
}
