//! Output for people.

use hashlane_api::{Goal, Size, Target};
use hashlane_import::{Category, Imported, Start};

use super::outcome::{Outcome, Totals, content_bytes};
use crate::Env;
use crate::output::text::{Escaped, Palette, Shown, Styled, count};

/// Prints a torrent: what happened, the size, the name and the place, and a line for each note.
pub(super) fn torrent(
    env: &mut Env,
    torrent: &Imported,
    notes: &[String],
    outcome: Outcome,
) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let (style, word) = match outcome {
        Outcome::New => (palette.good, "new"),
        Outcome::Present => (palette.dim, "present"),
    };
    let size = content_bytes(torrent).map_or("link".to_owned(), |bytes| Size(bytes).to_string());
    let start = match torrent.start {
        Start::Queued => "",
        Start::Forced => "  forced",
        Start::Paused => "  paused",
    };
    writeln!(
        env.stdout,
        "{}  {size:>10}  {}  {}{start}",
        Styled(style, format_args!("{word:<7}")),
        Styled(palette.strong, Escaped(torrent.display_name())),
        Shown(&torrent.content),
    )?;
    // Nothing changes for a torrent that is present.
    if outcome == Outcome::New {
        for note in notes {
            writeln!(
                env.stdout,
                "{:21}{}",
                "",
                Styled(palette.dim, Escaped(note))
            )?;
        }
    }
    Ok(())
}

/// Prints a category, its folder and its goal.
pub(super) fn category(env: &mut Env, category: &Category) -> anyhow::Result<()> {
    let palette = Palette::new(env.color);
    let name = Styled(palette.strong, Escaped(&category.name));
    write!(env.stdout, "category  {name}")?;
    if let Some(folder) = &category.folder {
        write!(env.stdout, "  {}", Shown(folder))?;
    }
    let goal = category.goal;
    let minutes = |what: &str, time: Target<std::time::Duration>| {
        time.limit()
            .map(|time| format!("{what} {} min", time.as_secs() / 60))
    };
    let limits = [
        goal.ratio.limit().map(|ratio| format!("ratio {ratio}")),
        minutes("seeding", goal.time),
        minutes("idle", goal.idle),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if goal == Goal::NEVER {
        write!(env.stdout, "  without goal")?;
    } else if !limits.is_empty() {
        write!(env.stdout, "  until {}", limits.join(", "))?;
    }
    writeln!(env.stdout)?;
    Ok(())
}

/// Prints the totals.
pub(super) fn summary(
    env: &mut Env,
    totals: &Totals,
    is_dry_run: bool,
    notes: &[String],
) -> anyhow::Result<()> {
    for note in notes {
        writeln!(env.stdout, "note: {}", Escaped(note))?;
    }
    let imported = if is_dry_run { "to import" } else { "imported" };
    let sum = totals.new + totals.present + totals.failed;
    writeln!(
        env.stdout,
        "{}: {} {imported} with {} of content and {}, {} already present, {} failed",
        count(sum, "torrent"),
        totals.new,
        Size(totals.content_bytes),
        count(totals.notes + notes.len() as u64, "note"),
        totals.present,
        totals.failed,
    )?;
    Ok(())
}
