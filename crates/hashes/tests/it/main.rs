//! Tests of the public interface.

mod vectors;
