//! The requests of the API: each handler with its description, from which `docs/reference/openapi.json` is generated.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};

/// Length limit of a request's body in bytes, unless the request has another one.
const MAX_BODY_LEN: usize = 4 << 10;

/// Requests with their descriptions.
pub(super) struct Routes<S> {
    pub(super) router: Router<S>,
    #[cfg(feature = "schema")]
    pub(super) operations: Vec<Operation>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    pub(super) fn new() -> Self {
        Self {
            router: Router::new(),
            #[cfg(feature = "schema")]
            operations: Vec::new(),
        }
    }

    /// Adds a request.
    #[cfg_attr(
        not(feature = "schema"),
        expect(clippy::needless_pass_by_value, reason = "the schema keeps it")
    )]
    pub(super) fn on<T: 'static>(
        mut self,
        operation: Operation,
        handler: impl Handler<T, S>,
    ) -> Self {
        let route = on(operation.method.filter(), handler);
        let route = route.layer(DefaultBodyLimit::max(operation.max_body_len));
        self.router = self.router.route(operation.path, route);
        #[cfg(feature = "schema")]
        self.operations.push(operation);
        self
    }
}

/// A request: its method and path, and its description.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: &'static str,
    max_body_len: usize,
    /// Empty in programs, which do not need it.
    pub(super) description: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

impl Method {
    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// A part of the description of a request.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "schema"),
    expect(dead_code, reason = "only the description reads them")
)]
pub(super) enum Part {
    Summary(&'static str),
    /// It can be made without credentials.
    IsOpen,
    /// A parameter with its place (`path`, `query`, `header`), its name, its type and its meaning.
    Parameter(&'static str, &'static str, Kind, &'static str),
    IsRequired(&'static str),
    /// A body of this content type.
    Body(&'static str, Kind),
    /// An answer without an error: its status, the content type and the type of its body, and its meaning.
    Answer(u16, Option<(&'static str, Kind)>, &'static str),
    /// A header of an answer with this status: its name and its meaning.
    Header(u16, &'static str, &'static str),
    /// An error that other requests do not have, or that has another meaning for them.
    Error(u16, &'static str),
}

/// The type of a value in the description.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "schema"),
    expect(dead_code, reason = "only the description reads them")
)]
pub(super) enum Kind {
    /// The schema with this name.
    Schema(&'static str),
    /// A list of values of this schema.
    List(&'static str),
    /// A text that is JSON of this schema.
    Json(&'static str),
    Number,
    Text,
    Texts,
    Bytes,
}

pub(super) const JSON: &str = "application/json";

impl Operation {
    fn new(method: Method, path: &'static str, summary: &'static str) -> Self {
        let operation = Self {
            method,
            path,
            max_body_len: MAX_BODY_LEN,
            description: Vec::new(),
        };
        operation.with(Part::Summary(summary))
    }

    pub(super) fn get(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Get, path, summary)
    }

    pub(super) fn post(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Post, path, summary)
    }

    pub(super) fn patch(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Patch, path, summary)
    }

    pub(super) fn delete(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Delete, path, summary)
    }

    fn with(mut self, part: Part) -> Self {
        if cfg!(feature = "schema") {
            self.description.push(part);
        }
        self
    }

    pub(super) fn open(self) -> Self {
        self.with(Part::IsOpen)
    }

    /// A value in the path, beside `{id}`.
    pub(super) fn in_path(self, name: &'static str, kind: Kind, text: &'static str) -> Self {
        self.with(Part::Parameter("path", name, kind, text))
            .with(Part::IsRequired(name))
    }

    pub(super) fn query(self, name: &'static str, kind: Kind, text: &'static str) -> Self {
        self.with(Part::Parameter("query", name, kind, text))
    }

    pub(super) fn required(self, name: &'static str) -> Self {
        self.with(Part::IsRequired(name))
    }

    pub(super) fn request_header(self, name: &'static str, text: &'static str) -> Self {
        self.with(Part::Parameter("header", name, Kind::Text, text))
    }

    pub(super) fn body(self, content_type: &'static str, kind: Kind) -> Self {
        self.with(Part::Body(content_type, kind))
    }

    /// Takes JSON of this schema.
    pub(super) fn takes(self, schema: &'static str) -> Self {
        self.body(JSON, Kind::Schema(schema))
    }

    pub(super) fn max_body_len(self, max_body_len: usize) -> Self {
        Self {
            max_body_len,
            ..self
        }
    }

    pub(super) fn answer(
        self,
        status: u16,
        content: Option<(&'static str, Kind)>,
        text: &'static str,
    ) -> Self {
        self.with(Part::Answer(status, content, text))
    }

    /// Answers with JSON of this schema.
    pub(super) fn json(self, status: u16, schema: &'static str, text: &'static str) -> Self {
        self.answer(status, Some((JSON, Kind::Schema(schema))), text)
    }

    /// Answers with events, whose data is JSON of this schema.
    pub(super) fn events(self, schema: &'static str, text: &'static str) -> Self {
        let content = ("text/event-stream", Kind::Schema(schema));
        self.answer(200, Some(content), text)
            .error(503, "There are 32 event streams already.")
    }

    /// Answers without content.
    pub(super) fn accepted(self, text: &'static str) -> Self {
        self.answer(202, None, text)
    }

    pub(super) fn header(self, status: u16, name: &'static str, text: &'static str) -> Self {
        self.with(Part::Header(status, name, text))
    }

    pub(super) fn error(self, status: u16, text: &'static str) -> Self {
        self.with(Part::Error(status, text))
    }
}
