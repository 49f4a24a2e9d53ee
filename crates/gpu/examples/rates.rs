//! Measures the devices of this system.

use hashlane_base58::{CpuBackend, SearchBackend as _};
use hashlane_gpu::{GpuBackend, Limits, adapters};

fn main() -> Result<(), hashlane_gpu::DeviceError> {
    let cpu = CpuBackend::fastest(None, None).expect("a kernel");
    let rate = cpu.total_hashes_per_second() / 1e6;
    println!("{}: {rate:.1} million hashes per second", cpu.name());
    for adapter in adapters()? {
        let device = GpuBackend::new(adapter.open()?, cpu, Limits::default())?;
        let rate = device.total_hashes_per_second() / 1e6;
        println!(
            "{} ({}): {rate:.1} million hashes per second",
            adapter.name, adapter.driver
        );
    }
    Ok(())
}
