//! The time limit for the body of a request. The work that the request asks for may take longer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Frame;
use tokio::time::{Sleep, sleep};

/// Time limit for the body of a request, which arrives after its head.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Passes a request on, and answers 408 if its body was late.
pub(crate) async fn limit(request: Request, next: Next) -> Response {
    let is_late = Arc::new(AtomicBool::new(false));
    let limited = request.map(|body| {
        Body::new(TimedBody {
            body,
            deadline: Box::pin(sleep(BODY_TIMEOUT)),
            is_late: Arc::clone(&is_late),
        })
    });
    let answer = next.run(limited).await;
    if is_late.load(Ordering::Relaxed) {
        StatusCode::REQUEST_TIMEOUT.into_response()
    } else {
        answer
    }
}

/// A body that fails if it does not arrive in time.
struct TimedBody {
    body: Body,
    deadline: Pin<Box<Sleep>>,
    is_late: Arc<AtomicBool>,
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let next = Pin::new(&mut self.body).poll_frame(context);
        if next.is_pending() && self.deadline.as_mut().poll(context).is_ready() {
            self.is_late.store(true, Ordering::Relaxed);
            let error = io::Error::from(io::ErrorKind::TimedOut);
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        next
    }

    // Without the length: a body that is too long is read up to the limit, so that its client, which still sends, gets the
    // answer before the connection closes.
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
