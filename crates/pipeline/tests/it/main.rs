//! Tests of the public interface.

mod messages;
