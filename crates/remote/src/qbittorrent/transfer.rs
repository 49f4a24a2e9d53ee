//! Rates and limits of the whole client.

use std::num::NonZeroU32;

use super::call::{Answer, Call, done};
use super::client::state;
use super::request::Failure;
use crate::model::SessionChange;

pub(super) fn info(call: &Call<'_>) -> Result<Answer, Failure> {
    let state = state(&call.control.session(), call.torrents());
    Answer::json(&state)
}

fn limit(limit: Option<u32>) -> Result<Answer, Failure> {
    Ok(Answer::Text(limit.unwrap_or(0).to_string()))
}

pub(super) fn download_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    limit(call.control.session().max_down)
}

pub(super) fn upload_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    limit(call.control.session().max_up)
}

pub(super) fn set_download_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("limit")?;
    call.control.change_session(SessionChange {
        max_down: Some(call.form.limit("limit")?.map(NonZeroU32::get)),
        ..SessionChange::default()
    })?;
    Ok(done())
}

pub(super) fn set_upload_limit(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form.required("limit")?;
    call.control.change_session(SessionChange {
        max_up: Some(call.form.limit("limit")?.map(NonZeroU32::get)),
        ..SessionChange::default()
    })?;
    Ok(done())
}

/// Returns 1 if the alternative limits are in force, and otherwise 0.
pub(super) fn speed_limits_mode(call: &Call<'_>) -> Result<Answer, Failure> {
    let mode = u8::from(call.control.session().is_alternative);
    Ok(Answer::Text(mode.to_string()))
}

pub(super) fn set_speed_limits_mode(call: &Call<'_>) -> Result<Answer, Failure> {
    switch(
        call,
        match call.form.required("mode")? {
            "0" => false,
            "1" => true,
            _ => return Err(Failure::bad("mode", "0 or 1")),
        },
    )
}

pub(super) fn toggle_speed_limits_mode(call: &Call<'_>) -> Result<Answer, Failure> {
    switch(call, !call.control.session().is_alternative)
}

fn switch(call: &Call<'_>, is_alternative: bool) -> Result<Answer, Failure> {
    call.control.change_session(SessionChange {
        is_alternative: Some(is_alternative),
        ..SessionChange::default()
    })?;
    Ok(done())
}
