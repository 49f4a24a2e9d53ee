//! The time limit for the body of a request. The work that the request asks for may take longer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;

/// Says whether the body of a request was late.
#[derive(Clone, Default)]
pub(super) struct Late(Arc<AtomicBool>);

impl Late {
    pub(super) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns a body that fails if it does not arrive within this time.
    pub(super) fn limit(&self, body: Body, time: Duration) -> Body {
        Body::from_stream(TimedBody {
            body: body.into_data_stream(),
            deadline: Box::pin(sleep(time)),
            late: self.clone(),
        })
    }
}

struct TimedBody {
    body: BodyDataStream,
    deadline: Pin<Box<Sleep>>,
    late: Late,
}

impl Stream for TimedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.body).poll_next(context);
        if next.is_pending() && self.deadline.as_mut().poll(context).is_ready() {
            self.late.0.store(true, Ordering::Relaxed);
            let error = io::Error::from(io::ErrorKind::TimedOut);
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        next
    }
}
