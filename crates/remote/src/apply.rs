//! Commands for the torrents that a request names.

use std::num::NonZeroU32;

use hashlane_api::{Command, Patch, Refusal, Target};
use hashlane_client::TorrentSnapshot;

use crate::model::{Control, minutes, of_minutes};

/// Does what a command asks of one torrent.
pub(crate) fn one(control: &dyn Control, torrent: usize, command: Command) -> Result<(), Refusal> {
    each(control, [(torrent, vec![command])])
}

/// Does what commands ask of torrents. Torrents with the same commands that follow each other are changed together.
///
/// # Errors
/// Returns the first refusal. What was asked of the same torrents by the same command has happened all the same.
pub(crate) fn each(
    control: &dyn Control,
    torrents: impl IntoIterator<Item = (usize, Vec<Command>)>,
) -> Result<(), Refusal> {
    let mut groups: Vec<(Vec<usize>, Vec<Command>)> = Vec::new();
    for (torrent, commands) in torrents {
        match groups.last_mut() {
            Some((torrents, same)) if *same == commands => torrents.push(torrent),
            _ => groups.push((vec![torrent], commands)),
        }
    }
    for (torrents, commands) in groups {
        for command in commands {
            let results = control.apply(&torrents, &command);
            results.into_iter().collect::<Result<(), _>>()?;
        }
    }
    Ok(())
}

/// Goals as programs know them. `None` leaves a goal as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GoalsInMinutes {
    pub(crate) ratio: Option<Target<f64>>,
    pub(crate) time: Option<Target<u32>>,
    pub(crate) idle: Option<Target<u32>>,
}

impl GoalsInMinutes {
    /// Adds the goals that differ from those of a torrent. Shown times are rounded, so a program that sends them back must not
    /// change them.
    pub(crate) fn change(self, torrent: &TorrentSnapshot, patch: &mut Patch) {
        let now = torrent.goal;
        patch.ratio = self.ratio.filter(|ratio| *ratio != now.ratio);
        for (goal, new, now) in [
            (&mut patch.time, self.time, now.time),
            (&mut patch.idle, self.idle, now.idle),
        ] {
            let new = new.filter(|new| *new != now.map(minutes));
            *goal = new.map(|new| new.map(of_minutes));
        }
    }
}

/// Returns the command for a change, unless nothing changes.
pub(crate) fn set(patch: Patch) -> Option<Command> {
    (patch != Patch::default()).then(|| Command::Set(Box::new(patch)))
}

/// Returns the rate limit of a torrent.
///
/// # Errors
/// A limit of 0 would stop the torrent.
pub(crate) fn rate(limit: Option<u32>) -> Result<Option<NonZeroU32>, Refusal> {
    let Some(limit) = limit else {
        return Ok(None);
    };
    let none = "a limit of 0 would stop the torrent: pause it instead";
    let limit = NonZeroU32::new(limit).ok_or_else(|| Refusal::Invalid(none.into()))?;
    Ok(Some(limit))
}
