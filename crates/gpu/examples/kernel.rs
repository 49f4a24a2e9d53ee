//! Prints the kernel for addresses in WGSL. `bench/gpu.py` counts its instructions.

use hashlane_base58::Shape;

fn main() {
    println!("{}", hashlane_gpu::kernel_source(Shape::new(6, 3)));
}
