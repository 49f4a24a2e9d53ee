//! Reads paths and names of a .torrent file, and replaces names that cannot be opened.

use std::borrow::Cow;

use super::component::{self, PathComponent};
use super::{MAX_PATH_DEPTH, encode};
use crate::Error;
use crate::located::Located;

/// Reads a list of components, and replaces those that cannot be used. Returns bencoded byte
/// strings, without the surrounding list.
pub(crate) fn list<'a>(list: &Located<'a>) -> Result<Cow<'a, [u8]>, Error> {
    let encoded = list.encoded_items()?;
    check_depth(list, list.items()?.count())?;
    let mut all_valid = true;
    for item in list.items()? {
        all_valid &= PathComponent::try_from(item.bytes()?).is_ok();
    }
    if all_valid {
        return Ok(encoded.into());
    }
    let names = list
        .items()?
        .map(|item| Ok(component::sanitize(item.bytes()?)));
    Ok(Cow::Owned(encode(
        names.collect::<Result<Vec<_>, Error>>()?,
    )))
}

/// Reads the target of a symbolic link like [`list`], but leaves out `.` and `..`, as BEP 47
/// demands.
pub(crate) fn target<'a>(list: &Located<'a>) -> Result<Cow<'a, [u8]>, Error> {
    let is_dots = |name: &[u8]| matches!(name, b"." | b"..");
    let (mut depth, mut has_dots) = (0, false);
    for item in list.items()? {
        if is_dots(item.bytes()?) {
            has_dots = true;
        } else {
            depth += 1;
        }
    }
    if !has_dots {
        return self::list(list);
    }
    check_depth(list, depth)?;
    let names = list.items()?.filter_map(|item| item.value().as_bytes());
    let names = names.filter(|name| !is_dots(name)).map(component::sanitize);
    Ok(Cow::Owned(encode(names)))
}

/// Refuses paths without components, and paths with too many.
fn check_depth(list: &Located<'_>, depth: usize) -> Result<(), Error> {
    let (offset, field) = (list.offset(), list.field());
    match depth {
        0 => Err(Error::EmptyPath { offset, field }),
        1..=MAX_PATH_DEPTH => Ok(()),
        _ => Err(Error::PathTooDeep {
            offset,
            field,
            depth,
        }),
    }
}

/// Reads one name, and replaces it if it cannot be used.
pub(crate) fn name<'a>(name: &Located<'a>) -> Result<Cow<'a, [u8]>, Error> {
    Ok(component::sanitize(name.bytes()?))
}
