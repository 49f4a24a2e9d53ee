//! Tests of the public interface.

mod algorithm;
mod vectors;
