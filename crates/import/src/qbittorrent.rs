//! Sessions of qBittorrent: a folder `BT_backup` with a `.fastresume` file for each torrent, or a database `torrents.db`.

#[cfg(unix)]
mod database;
mod goals;
mod settings;

use std::path::{Path, PathBuf};

use hashlane_api::Priority;

use crate::dictionary::Dictionary;
use crate::file::{self, MAX_SETTINGS_BYTES, MAX_TORRENT_BYTES, session_error};
use crate::libtorrent::Resume;
use crate::path::{folder_of, is_of_windows};
use crate::torrents::{Options, Torrents, in_order};
use crate::{Category, Failure, Imported, Note, Reason, SessionError};

use goals::{goal_of, note_of_action};
use settings::Settings;

const EXPECTED: &str = "a folder BT_backup with .fastresume files, or a file torrents.db";

/// Reads the session in `folder`: the folder `BT_backup`, the folder that has it or `torrents.db`, or a profile.
pub(crate) fn read(folder: &Path, options: Options) -> Result<Torrents, SessionError> {
    let candidates = [
        folder.to_owned(),
        folder.join("data"),
        folder.join("qBittorrent/data"),
    ];
    for data in &candidates {
        let backup = match data.file_name() {
            Some(name) if name == "BT_backup" => data.clone(),
            _ => data.join("BT_backup"),
        };
        let parent = backup.parent().unwrap_or(data).to_owned();
        let stems = file::names(&backup, ".fastresume")?;
        if !stems.is_empty() {
            let stems = in_queue(&backup, stems)?;
            let settings = Settings::read(&parent, options)?;
            let (groups, locks) = (settings.categories(), settings.locks.clone());
            return Ok(with_groups(
                of_folder(backup, stems, settings),
                groups,
                locks,
            ));
        }
        let database = parent.join("torrents.db");
        if database.exists() {
            let settings = Settings::read(&parent, options)?;
            let (groups, locks) = (settings.categories(), settings.locks.clone());
            return Ok(with_groups(
                of_database(&database, settings)?,
                groups,
                locks,
            ));
        }
    }
    if candidates
        .iter()
        .any(|data| data.ends_with("BT_backup") || data.join("BT_backup").is_dir())
    {
        return Ok(Torrents::default());
    }
    Err(session_error(
        folder,
        Reason::NoSession { expected: EXPECTED },
    ))
}

/// Adds the categories of the program, and the files that show that it runs.
fn with_groups(
    torrents: Torrents,
    (categories, notes): (Vec<Category>, Vec<Note>),
    locks: Vec<PathBuf>,
) -> Torrents {
    let torrents = torrents.with_categories(categories).locked_by(locks);
    notes.into_iter().fold(torrents, Torrents::with_note)
}

/// Returns torrents in the order of the queue, which the file `queue` has: an info-hash on each line. Those that are complete
/// are not in the queue, and come last.
fn in_queue(backup: &Path, stems: Vec<String>) -> Result<Vec<String>, SessionError> {
    let path = backup.join("queue");
    let queue = file::read_if_present(&path, MAX_SETTINGS_BYTES)
        .map_err(|reason| session_error(&path, reason))?
        .unwrap_or_default();
    let lines = queue.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    Ok(in_order(stems, lines))
}

fn of_folder(backup: PathBuf, stems: Vec<String>, settings: Settings) -> Torrents {
    Torrents::new(stems, move |stem| {
        let file = backup.join(format!("{stem}.fastresume"));
        let import = || {
            let resume = file::read(&file, MAX_TORRENT_BYTES)?;
            let metainfo = backup.join(format!("{stem}.torrent"));
            let metainfo = file::read_if_present(&metainfo, MAX_TORRENT_BYTES)?;
            import(
                file.clone(),
                &stem,
                &Dictionary::parse(&resume)?,
                metainfo,
                &settings,
            )
        };
        import().map_err(|reason| Failure {
            file: file.clone(),
            reason,
        })
    })
}

#[cfg(unix)]
fn of_database(path: &Path, settings: Settings) -> Result<Torrents, SessionError> {
    let database = database::Database::open(path).map_err(|reason| session_error(path, reason))?;
    let rows = database
        .rows()
        .map_err(|reason| session_error(path, reason))?;
    let path = path.to_owned();
    Ok(Torrents::new(rows, move |row| {
        let file = PathBuf::from(format!("{}: row {row}", path.display()));
        let import = || {
            let row = database.row(row)?;
            let keys = Dictionary::parse(&row.resume)?.extended(Dictionary::parse(&row.columns)?);
            import(file.clone(), &row.id, &keys, row.metadata, &settings)
        };
        import().map_err(|reason| Failure {
            file: file.clone(),
            reason,
        })
    }))
}

#[cfg(not(unix))]
fn of_database(path: &Path, _: Settings) -> Result<Torrents, SessionError> {
    let reason =
        "this build has no SQLite; let qBittorrent keep its resume data as fastresume files".into();
    Err(session_error(path, Reason::Database(reason)))
}

/// Returns a torrent with the keys of a `.fastresume` file.
fn import(
    file: PathBuf,
    id: &str,
    keys: &Dictionary<'_>,
    metainfo: Option<Vec<u8>>,
    settings: &Settings,
) -> Result<Imported, Reason> {
    let mut notes = Vec::new();
    let category = keys.text("qBt-category", &mut notes);
    let (folder, is_windows) = folder(keys, category.as_deref(), settings)?;
    let layout = keys.text("qBt-contentLayout", &mut notes);
    let has_no_root = keys.integer("qBt-hasRootFolder", &mut notes) == Some(0);
    let resume = Resume {
        keys,
        torrent: metainfo,
        file,
        id,
        folder: &folder,
        is_windows,
        is_without_root: layout.as_deref() == Some("NoSubfolder") || has_no_root,
    };
    let mut imported = resume.import(&settings.map, priority)?;
    let own_name = imported.display_name();
    let name = keys.text("qBt-name", &mut notes);
    imported.name = name.filter(|name| *name != own_name);
    imported.category = category;
    imported.labels = match keys.value("qBt-tags") {
        Some(_) => keys.texts("qBt-tags", &mut notes),
        None => Vec::new(),
    };
    // Ratios are written in thousandths, and times in minutes.
    imported.goal = goal_of(
        keys.integer("qBt-ratioLimit", &mut notes),
        keys.integer("qBt-seedingTimeLimit", &mut notes),
        keys.integer("qBt-inactiveSeedingTimeLimit", &mut notes),
    );
    if let Some(action) = keys.text("qBt-shareLimitAction", &mut notes).as_deref() {
        notes.extend(note_of_action(action).map(Note::NotCarried));
    }
    if keys.integer("qBt-firstLastPiecePriority", &mut notes) == Some(1) {
        notes.push(Note::NotCarried("priority of first and last pieces".into()));
    }
    imported.notes.extend(notes);
    note_move(keys, &folder, settings, &mut imported);
    Ok(imported)
}

/// Notes that qBittorrent would move the content when it is complete.
fn note_move(keys: &Dictionary<'_>, folder: &Path, settings: &Settings, imported: &mut Imported) {
    let category = imported.category.as_deref();
    if let Ok(Some(target)) = target(keys, category, settings)
        && target != folder
        && imported.statistics.completed.is_none()
    {
        let folder = settings.map.apply(&target);
        imported.notes.push(Note::Unfinished { folder });
    }
}

/// Returns the folder that has the content now. libtorrent's `save_path` is the folder that it used last, whichever setting
/// led to it.
fn folder(
    keys: &Dictionary<'_>,
    category: Option<&str>,
    settings: &Settings,
) -> Result<(PathBuf, bool), Reason> {
    if let Some(path) = keys.bytes("save_path")? {
        return Ok((settings.absolute(folder_of(path)?), is_of_windows(path)));
    }
    if keys
        .value("qBt-seedStatus")
        .and_then(hashlane_metainfo::bencode::Value::as_integer)
        == Some(0)
        && let Some(path) = keys.bytes("qBt-downloadPath")?
    {
        return Ok((settings.absolute(folder_of(path)?), is_of_windows(path)));
    }
    let target = target(keys, category, settings)?.ok_or(Reason::NoFolder)?;
    let is_windows = is_of_windows(target.as_os_str().as_encoded_bytes());
    Ok((target, is_windows))
}

/// Returns the folder for complete content: that of the torrent, of its category, or of all torrents.
fn target(
    keys: &Dictionary<'_>,
    category: Option<&str>,
    settings: &Settings,
) -> Result<Option<PathBuf>, Reason> {
    match keys.bytes("qBt-savePath")? {
        Some(path) => Ok(Some(settings.absolute(folder_of(path)?))),
        None => Ok(settings.folder_of_category(category)),
    }
}

/// Translates a priority. qBittorrent's usual priority is 1, and that of libtorrent, which older versions used, is 4.
fn priority(priority: i64) -> Priority {
    match priority {
        0 => Priority::Skip,
        6.. => Priority::High,
        _ => Priority::Normal,
    }
}
