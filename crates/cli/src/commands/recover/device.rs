//! The devices that `--device` selects.

use anyhow::{Context as _, bail};
use hashlane_base58::{CpuBackend, SearchBackend, SeveralBackends};
use hashlane_gpu::{Adapter, GpuBackend, Limits};

/// Returns the backend for a value of `--device`.
pub(super) fn backend(device: &str, cpu: CpuBackend) -> anyhow::Result<Box<dyn SearchBackend>> {
    if device == "cpu" {
        return Ok(Box::new(cpu));
    }
    select(device, cpu).with_context(|| format!("--device {device}"))
}

fn select(device: &str, cpu: CpuBackend) -> anyhow::Result<Box<dyn SearchBackend>> {
    let found = hashlane_gpu::adapters()?;
    let mut backends: Vec<Box<dyn SearchBackend>> = Vec::new();
    if device == "all" {
        backends.push(Box::new(cpu));
    }
    for adapter in found.iter().filter(|adapter| is_selected(adapter, device)) {
        let gpu = adapter
            .open()
            .and_then(|opened| GpuBackend::new(opened, cpu, Limits::default()));
        backends.push(Box::new(gpu.with_context(|| adapter.name.clone())?));
    }
    if backends.is_empty() {
        let names: Vec<&str> = found.iter().map(|adapter| adapter.name.as_str()).collect();
        match names.as_slice() {
            [] => bail!("no driver for Vulkan was found; install the driver of the GPU"),
            _ => bail!("no such device; the devices are: {}", names.join("; ")),
        }
    }
    Ok(Box::new(SeveralBackends::new(backends)))
}

/// Returns `true` if `--device` selects this device. Software is selected only by its name: it runs on the
/// same cores as the faster kernels of the CPU.
fn is_selected(adapter: &Adapter, device: &str) -> bool {
    match device {
        "gpu" | "all" => !adapter.is_software,
        name => adapter.name.to_lowercase().contains(&name.to_lowercase()),
    }
}
