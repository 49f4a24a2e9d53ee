//! Tests of the public interface.

mod lists;
mod order;
