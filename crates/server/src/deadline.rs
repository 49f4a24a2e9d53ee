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
use tokio::time::{Instant, Sleep, sleep};

use crate::connections::{Connection, Receiving};

/// Time limit for the body of a request, which arrives after its head.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Time for the first bytes of a body. Each further byte extends it by the time of a byte at [`MIN_RATE`].
const GRACE: Duration = Duration::from_secs(3);

/// Minimum rate of a body in bytes per second. A slower client holds a connection that others need.
const MIN_RATE: u32 = 4096;

/// Passes a request on, and answers 408 if its body was late.
pub(crate) async fn limit(request: Request, next: Next) -> Response {
    let is_late = Arc::new(AtomicBool::new(false));
    let connection = request.extensions().get::<Arc<Connection>>();
    let receiving = connection.map(Connection::receiving);
    let limited = request.map(|body| {
        Body::new(TimedBody {
            body,
            started: Instant::now(),
            received: 0,
            receiving,
            deadline: Box::pin(sleep(GRACE)),
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

/// Returns the time in which a body must send more than these bytes.
fn allowed(received: u64) -> Duration {
    let at_rate = Duration::from_secs(received / u64::from(MIN_RATE));
    GRACE.saturating_add(at_rate).min(BODY_TIMEOUT)
}

/// A body that fails if it does not arrive in time.
struct TimedBody {
    body: Body,
    started: Instant,
    /// Bytes.
    received: u64,
    /// The state of its connection until the end of the body.
    receiving: Option<Receiving>,
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
        if let Poll::Ready(Some(Ok(frame))) = &next {
            self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
            let deadline = self.started + allowed(self.received);
            self.deadline.as_mut().reset(deadline);
        }
        if next.is_ready()
            && (self.body.is_end_stream() || !matches!(next, Poll::Ready(Some(Ok(_)))))
        {
            self.receiving = None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_a_rate_and_a_deadline() {
        let seconds = |received| allowed(received).as_secs();
        assert_eq!(seconds(0), 3);
        assert_eq!(seconds(4095), 3);
        assert_eq!(seconds(2 * 4096), 5);
        assert_eq!(seconds(u64::MAX), 10);
    }
}
