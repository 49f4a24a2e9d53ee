//! Methods that change torrents, categories and labels.

use std::path::PathBuf;

use axum::http::StatusCode;
use hashlane_api::{
    CategoryPatch, Command, Content, GroupChange, NewTorrent, Patch, Priority, QueueMove, Refusal,
    Source, Target, Tiers,
};
use hashlane_client::TorrentSnapshot;
use hashlane_metainfo::{ContentLayout, is_url};

use super::call::{Answer, Call, done};
use super::client::queues;
use super::request::{Failure, Form};
use crate::apply::{self, GoalsInMinutes};
use crate::check::{absolute, link, relative_path};
use crate::model::{of_minutes, tiers};
use crate::torrent::Shown as _;

/// Does what a command asks of each named torrent that has one.
fn each(
    call: &Call<'_>,
    command: impl Fn(&TorrentSnapshot) -> Option<Command>,
) -> Result<Answer, Failure> {
    let torrents = call.form.torrents(call.torrents())?.into_iter();
    let commands = torrents.map(|torrent| {
        (
            torrent.identity.number,
            command(torrent).into_iter().collect(),
        )
    });
    apply::each(call.control, commands)?;
    Ok(done())
}

/// Does what a command asks of all named torrents.
fn all(call: &Call<'_>, command: &Command) -> Result<Answer, Failure> {
    each(call, |_| Some(command.clone()))
}

/// Does what a command asks of one torrent.
fn one(call: &Call<'_>, torrent: &TorrentSnapshot, command: Command) -> Result<Answer, Failure> {
    apply::one(call.control, torrent.identity.number, command)?;
    Ok(done())
}

/// Returns a goal: -2 is that of the client, and -1 is none.
#[expect(clippy::float_cmp, reason = "both numbers are exact")]
fn goal<T>(value: f64, convert: impl Fn(f64) -> Option<T>) -> Option<Target<T>> {
    if value == -2.0 {
        Some(Target::Inherited)
    } else if value == -1.0 {
        Some(Target::Never)
    } else if value >= 0.0 {
        convert(value).map(Target::At)
    } else {
        None
    }
}

/// Returns the goals that a form has.
fn goals(form: &Form) -> Result<GoalsInMinutes, Failure> {
    let ratio = form.number("ratioLimit")?.map(|value| {
        let ratio = goal(value, Some);
        ratio.ok_or_else(|| Failure::bad("ratioLimit", "-2, -1 or a ratio"))
    });
    let minutes = |name: &str| {
        let Some(value) = form.number(name)? else {
            return Ok(None);
        };
        let whole = |value: f64| {
            let is_whole = value.fract() == 0.0 && value <= f64::from(u32::MAX);
            // Not negative, whole and small enough.
            #[expect(clippy::cast_sign_loss, reason = "it is not negative")]
            is_whole.then_some(value as u32)
        };
        let minutes = goal(value, whole);
        let minutes = minutes.ok_or_else(|| Failure::bad(name, "-2, -1 or minutes"))?;
        Ok::<_, Failure>(Some(minutes))
    };
    Ok(GoalsInMinutes {
        ratio: ratio.transpose()?,
        time: minutes("seedingTimeLimit")?,
        idle: minutes("inactiveSeedingTimeLimit")?,
    })
}

/// Adds torrents by links and files. `skip_checking` is accepted, and their content is verified all the same.
pub(super) fn add(call: &Call<'_>) -> Result<Answer, Failure> {
    let form = &call.form;
    let mut sources = Vec::new();
    let urls = form.given("urls").unwrap_or("").lines().map(str::trim);
    for url in urls.filter(|url| !url.is_empty()) {
        match link(url) {
            Err(refusal @ Refusal::Forbidden(_)) => return Err(refusal.into()),
            source => sources.push((url, source, false)),
        }
    }
    for (name, bytes) in &form.files {
        if bytes.len() > call.max_metainfo_len {
            let reason = format!("{name}: too large for a .torrent file");
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        sources.push((name, Source::of_file(&bytes[..]), true));
    }
    if sources.is_empty() {
        return Ok(Answer::Text("Fails.".to_owned()));
    }
    let new = new_torrent(form)?;
    // As in qBittorrent, a category and labels that do not exist are created.
    if let Some(Some(name)) = &new.set.category {
        let groups = call.control.groups();
        if !groups.categories.iter().any(|known| known.name == *name) {
            let category = CategoryPatch {
                name: name.clone(),
                ..CategoryPatch::default()
            };
            call.control
                .change_groups(&GroupChange::SetCategory(category))?;
        }
    }
    create_labels(call, &form.list("tags", ',')?)?;
    let is_first = form.bool("addToTopOfQueue")?.unwrap_or(false);
    let is_forced = form.bool("forced")?.unwrap_or(false);
    let mut is_added = false;
    for (name, source, is_file) in sources {
        let added = match source.and_then(|source| call.control.add(source, &new)) {
            Ok(added) => added,
            Err(Refusal::Invalid(reason)) if is_file => {
                let reason = format!("Error: '{name}' is not a valid torrent file. {reason}");
                return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
            }
            Err(Refusal::Invalid(_)) => continue,
            Err(refusal) => return Err(refusal.into()),
        };
        if added.is_present {
            continue;
        }
        let torrent = added.torrent.identity.number;
        is_added = true;
        if is_first {
            let to = QueueMove::Top;
            apply::one(call.control, torrent, Command::Queue { to })?;
        }
        if is_forced && new.paused != Some(true) {
            apply::one(call.control, torrent, Command::Resume { now: true })?;
        }
    }
    Ok(Answer::Text(
        if is_added { "Ok." } else { "Fails." }.to_owned(),
    ))
}

/// Refuses a folder of its own for incomplete files, unless a switch turns it off.
fn has_one_folder(form: &Form, switch: &str) -> Result<(), Failure> {
    let has_path = form.text("downloadPath").is_some();
    if form.bool(switch)?.unwrap_or(has_path) {
        let reason = "downloadPath: a folder for incomplete files is not possible here";
        return Err(Failure::conflict(reason));
    }
    Ok(())
}

/// Returns the choices of a request for its new torrents.
fn new_torrent(form: &Form) -> Result<NewTorrent, Failure> {
    let refused = |name: &str| Failure::conflict(format!("{name}: this is not possible here"));
    has_one_folder(form, "useDownloadPath")?;
    if form
        .text("stopCondition")
        .is_some_and(|condition| condition != "None")
    {
        return Err(refused("stopCondition"));
    }
    if form.text("cookie").is_some() {
        return Err(refused("cookie"));
    }
    let layout = match form.text("contentLayout") {
        None | Some("Original") => ContentLayout::Original,
        Some("Subfolder") => ContentLayout::Subfolder,
        Some("NoSubfolder") => ContentLayout::NoSubfolder,
        Some(_) => {
            let layouts = "Original, Subfolder or NoSubfolder";
            return Err(Failure::bad("contentLayout", layouts));
        }
    };
    let goals = goals(form)?;
    // The folder of a torrent with automatic management is that of its category.
    let is_automatic = form.bool("autoTMM")?.unwrap_or(false);
    let folder = form.name("savepath")?.filter(|_| !is_automatic);
    let is_paused = form.bool("stopped")?;
    let is_paused = is_paused.or(form.bool("paused")?);
    let category = form.name("category")?.map(category_name).transpose()?;
    let folder = folder.map(absolute).transpose()?;
    Ok(NewTorrent {
        folder: folder.map(PathBuf::from),
        layout,
        paused: is_paused,
        set: Patch {
            title: title(form, "rename")?.map(Some),
            category: category.map(Some),
            labels: Some(form.list("tags", ',')?.into_iter().collect()),
            ratio: goals.ratio,
            time: goals.time.map(|time| time.map(of_minutes)),
            idle: goals.idle.map(|idle| idle.map(of_minutes)),
            max_down: Some(form.limit("dlLimit")?),
            max_up: Some(form.limit("upLimit")?),
            sequential: form.bool("sequentialDownload")?,
            super_seeding: None,
        },
        ..NewTorrent::default()
    })
}

/// Removes torrents. Sonarr leaves out `deleteFiles` to keep the files, although qBittorrent requires it.
pub(super) fn delete(call: &Call<'_>) -> Result<Answer, Failure> {
    let content = match call.form.bool("deleteFiles")? {
        Some(true) => Content::Delete,
        _ => Content::Keep,
    };
    all(call, &Command::Remove { content })
}

pub(super) fn start(call: &Call<'_>) -> Result<Answer, Failure> {
    all(call, &Command::Resume { now: false })
}

pub(super) fn stop(call: &Call<'_>) -> Result<Answer, Failure> {
    all(call, &Command::Pause)
}

pub(super) fn set_force_start(call: &Call<'_>) -> Result<Answer, Failure> {
    let now = call.form.bool("value")?.unwrap_or(false);
    all(call, &Command::Resume { now })
}

pub(super) fn recheck(call: &Call<'_>) -> Result<Answer, Failure> {
    all(call, &Command::Verify)
}

pub(super) fn reannounce(call: &Call<'_>) -> Result<Answer, Failure> {
    all(call, &Command::Reannounce)
}

/// Moves torrents in the queue, if there is one.
fn move_in_queue(call: &Call<'_>, to: QueueMove) -> Result<Answer, Failure> {
    if !queues(&call.control.session()) {
        return Err(Failure::conflict("Torrent queueing must be enabled"));
    }
    all(call, &Command::Queue { to })
}

pub(super) fn top_prio(call: &Call<'_>) -> Result<Answer, Failure> {
    move_in_queue(call, QueueMove::Top)
}

pub(super) fn bottom_prio(call: &Call<'_>) -> Result<Answer, Failure> {
    move_in_queue(call, QueueMove::Bottom)
}

pub(super) fn increase_prio(call: &Call<'_>) -> Result<Answer, Failure> {
    move_in_queue(call, QueueMove::Up)
}

pub(super) fn decrease_prio(call: &Call<'_>) -> Result<Answer, Failure> {
    move_in_queue(call, QueueMove::Down)
}

pub(super) fn toggle_sequential(call: &Call<'_>) -> Result<Answer, Failure> {
    each(call, |torrent| {
        apply::set(Patch {
            sequential: Some(!torrent.is_sequential),
            ..Patch::default()
        })
    })
}

pub(super) fn set_super_seeding(call: &Call<'_>) -> Result<Answer, Failure> {
    let super_seeding = call.form.bool("value")?;
    let patch = Patch {
        super_seeding: Some(super_seeding.unwrap_or(false)),
        ..Patch::default()
    };
    all(call, &Command::Set(Box::new(patch)))
}

/// Pieces are downloaded rarest first or in order, so the choice is ignored, as `firstLastPiecePrio` of a new torrent.
pub(super) fn toggle_first_last(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.torrents(call.torrents())?;
    Ok(done())
}

/// Folders never follow categories later, so only what is so already can be chosen.
pub(super) fn set_auto_management(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("enable")?;
    if call.form.bool("enable")? == Some(true) {
        return Err(Failure::conflict(
            "automatic management is not possible here",
        ));
    }
    call.form.torrents(call.torrents())?;
    Ok(done())
}

pub(super) fn add_trackers(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    call.form.required("urls")?;
    let mut tiers = tiers(&call.control.trackers(torrent.identity.number));
    for url in call.form.list("urls", '\n')? {
        tiers.add(url);
    }
    set_trackers(call, torrent, tiers)
}

pub(super) fn edit_tracker(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let (url, new) = (
        call.form.required("origUrl")?,
        call.form.required("newUrl")?,
    );
    if !is_url(new) {
        return Err(Failure::bad("newUrl", "a URL"));
    }
    let mut tiers = tiers(&call.control.trackers(torrent.identity.number));
    if url != new && tiers.contains(new) {
        return Err(Failure::conflict("newUrl: the torrent has this tracker"));
    }
    if !tiers.replace(url, new) {
        return Err(Failure::conflict(
            "origUrl: the torrent does not have this tracker",
        ));
    }
    set_trackers(call, torrent, tiers)
}

pub(super) fn remove_trackers(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    call.form.required("urls")?;
    let mut tiers = tiers(&call.control.trackers(torrent.identity.number));
    let mut is_removed = false;
    for url in call.form.list("urls", '|')? {
        is_removed |= tiers.remove(&url);
    }
    if !is_removed {
        return Err(Failure::conflict(
            "urls: the torrent has none of these trackers",
        ));
    }
    set_trackers(call, torrent, tiers)
}

/// Gives a torrent other trackers.
fn set_trackers(
    call: &Call<'_>,
    torrent: &TorrentSnapshot,
    tiers: Tiers,
) -> Result<Answer, Failure> {
    let trackers = tiers.into_urls()?;
    one(call, torrent, Command::SetTrackers { trackers })
}

pub(super) fn file_prio(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    let ids = call.form.required("id")?;
    call.form.required("priority")?;
    let priority = match call.form.integer("priority")? {
        Some(0) => Priority::Skip,
        Some(1) => Priority::Normal,
        Some(6 | 7) => Priority::High,
        _ => return Err(Failure::bad("priority", "0, 1, 6 or 7")),
    };
    // A torrent that was just added has no snapshot with files yet.
    let n_files = call.control.files(torrent.identity.number).len();
    if n_files == 0 {
        return Err(Failure::conflict("the metadata is not known yet"));
    }
    let files: Result<Vec<u32>, _> = ids.split('|').map(str::parse).collect();
    let files = files.map_err(|_| Failure::bad("id", "positions of files"))?;
    if files.iter().any(|file| *file as usize >= n_files) {
        return Err(Failure::conflict("the torrent does not have this file"));
    }
    one(call, torrent, Command::Prioritize { files, priority })
}

/// Returns the name of a category. `/` separates its parts. A part that is empty is an error.
fn category_name(name: &str) -> Result<String, Failure> {
    let is_valid =
        !name.contains(['\\', '\n', '\0']) && name.split('/').all(|part| !part.is_empty());
    if !is_valid {
        return Err(Failure::conflict("Incorrect category name"));
    }
    Ok(name.to_owned())
}

/// Returns the category of a request, and whether it exists.
fn given_category(call: &Call<'_>) -> Result<(CategoryPatch, bool), Failure> {
    call.form.required("category")?;
    let name = call.form.name("category")?;
    let name = name.ok_or_else(|| Failure::bad("category", "a name"))?;
    let name = category_name(name)?;
    let folder = call.form.name("savePath")?.map(absolute).transpose()?;
    has_one_folder(&call.form, "downloadPathEnabled")?;
    let categories = call.control.groups().categories;
    let exists = categories.iter().any(|known| known.name == name);
    let category = CategoryPatch {
        name,
        folder: Some(folder.map(Into::into)),
        ..CategoryPatch::default()
    };
    Ok((category, exists))
}

pub(super) fn create_category(call: &Call<'_>) -> Result<Answer, Failure> {
    let (category, exists) = given_category(call)?;
    if exists {
        return Err(Failure::conflict("Unable to create category: it exists"));
    }
    call.control
        .change_groups(&GroupChange::SetCategory(category))?;
    Ok(done())
}

pub(super) fn edit_category(call: &Call<'_>) -> Result<Answer, Failure> {
    let (category, exists) = given_category(call)?;
    if !exists {
        return Err(Failure::conflict(
            "Unable to edit category: it does not exist",
        ));
    }
    call.control
        .change_groups(&GroupChange::SetCategory(category))?;
    Ok(done())
}

pub(super) fn remove_categories(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("categories")?;
    let names = call.form.list("categories", '\n')?;
    call.control
        .change_groups(&GroupChange::RemoveCategories { names })?;
    Ok(done())
}

pub(super) fn set_category(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("category")?;
    let category = call.form.name("category")?.map(str::to_owned);
    let categories = call.control.groups().categories;
    let is_known = |name: &String| categories.iter().any(|known| known.name == *name);
    if !category.as_ref().is_none_or(is_known) {
        return Err(Failure::conflict("Incorrect category name"));
    }
    each(call, |_| {
        apply::set(Patch {
            category: Some(category.clone()),
            ..Patch::default()
        })
    })
}

pub(super) fn create_tags(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("tags")?;
    let labels = call.form.list("tags", ',')?;
    call.control
        .change_groups(&GroupChange::AddLabels { labels })?;
    Ok(done())
}

pub(super) fn delete_tags(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("tags")?;
    let labels = call.form.list("tags", ',')?;
    call.control
        .change_groups(&GroupChange::RemoveLabels { labels })?;
    Ok(done())
}

pub(super) fn add_tags(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("tags")?;
    let added = call.form.list("tags", ',')?;
    let answer = each(call, |torrent| {
        let mut labels = torrent.labels.clone();
        let new = added.iter().filter(|label| !torrent.labels.contains(label));
        labels.extend(new.cloned());
        label(torrent, labels)
    })?;
    create_labels(call, &added)?;
    Ok(answer)
}

/// Creates the labels that torrents get. As in qBittorrent, they exist until they are deleted.
fn create_labels(call: &Call<'_>, labels: &[String]) -> Result<(), Failure> {
    if !labels.is_empty() {
        let labels = labels.to_owned();
        call.control
            .change_groups(&GroupChange::AddLabels { labels })?;
    }
    Ok(())
}

/// Removes labels of torrents, or all of them.
pub(super) fn remove_tags(call: &Call<'_>) -> Result<Answer, Failure> {
    let removed = call.form.list("tags", ',')?;
    each(call, |torrent| {
        let mut labels = torrent.labels.clone();
        labels.retain(|label| !removed.is_empty() && !removed.contains(label));
        label(torrent, labels)
    })
}

/// Returns the command that gives a torrent these labels, if it has others.
fn label(torrent: &TorrentSnapshot, labels: Vec<String>) -> Option<Command> {
    let labels = (labels != torrent.labels).then(|| labels.into_iter().collect());
    apply::set(Patch {
        labels,
        ..Patch::default()
    })
}

pub(super) fn set_download_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("limit")?;
    let max_down = call.form.limit("limit")?;
    each(call, |torrent| {
        apply::set(Patch {
            max_down: (max_down != torrent.rates().down).then_some(max_down),
            ..Patch::default()
        })
    })
}

pub(super) fn set_upload_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("limit")?;
    let max_up = call.form.limit("limit")?;
    each(call, |torrent| {
        apply::set(Patch {
            max_up: (max_up != torrent.rates().up).then_some(max_up),
            ..Patch::default()
        })
    })
}

pub(super) fn set_share_limits(call: &Call<'_>) -> Result<Answer, Failure> {
    for name in ["ratioLimit", "seedingTimeLimit", "inactiveSeedingTimeLimit"] {
        call.form.required(name)?;
    }
    let goals = goals(&call.form)?;
    each(call, |torrent| {
        let mut patch = Patch::default();
        goals.change(torrent, &mut patch);
        apply::set(patch)
    })
}

/// Moves the content of torrents.
pub(super) fn set_location(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("location")?;
    let folder = call.form.name("location")?;
    let folder = folder.ok_or_else(|| Failure::bad("location", "a folder"))?;
    let folder = absolute(folder)?;
    each(call, |torrent| {
        (folder != torrent.content_folder()).then(|| Command::Relocate {
            folder: folder.clone().into(),
        })
    })
}

pub(super) fn rename(call: &Call<'_>) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    call.form.required("name")?;
    let Some(name) = title(&call.form, "name")? else {
        return Err(Failure::conflict("Incorrect torrent name"));
    };
    let patch = Patch {
        title: Some(Some(name)),
        ..Patch::default()
    };
    one(call, torrent, Command::Set(Box::new(patch)))
}

/// Returns a name for a torrent as qBittorrent reads it: without white space around it, and on one line.
fn title(form: &Form, field: &str) -> Result<Option<String>, Failure> {
    let name = form.name(field)?.map(str::trim);
    let name = name.filter(|name| !name.is_empty());
    Ok(name.map(|name| name.replace("\r\n", " ").replace(['\r', '\n'], " ")))
}

pub(super) fn rename_file(call: &Call<'_>) -> Result<Answer, Failure> {
    rename_path(call, |file, path| file == path)
}

pub(super) fn rename_folder(call: &Call<'_>) -> Result<Answer, Failure> {
    rename_path(call, |file, path| {
        let rest = file.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Renames a file or folder, also to another folder. `is_at` says whether a file stands for a path.
fn rename_path(call: &Call<'_>, is_at: impl Fn(&str, &str) -> bool) -> Result<Answer, Failure> {
    let torrent = call.form.torrent(call.torrents())?;
    call.form.required("oldPath")?;
    call.form.required("newPath")?;
    let (Some(path), Some(new)) = (call.form.name("oldPath")?, call.form.name("newPath")?) else {
        return Err(Failure::conflict("both paths are required"));
    };
    let files = call.control.files(torrent.identity.number);
    if !files.iter().any(|(file, _)| is_at(&file.path, path)) {
        return Err(Failure::conflict("the torrent does not have this path"));
    }
    let command = Command::Rename {
        from: path.to_owned(),
        to: relative_path(new).map_err(|refusal| Failure::conflict(refusal.to_string()))?,
    };
    // As for a path that is taken.
    let renamed = apply::one(call.control, torrent.identity.number, command);
    renamed.map_err(|refusal| match refusal {
        Refusal::Forbidden(_) => refusal.into(),
        _ => Failure::conflict(refusal.to_string()),
    })?;
    Ok(done())
}
