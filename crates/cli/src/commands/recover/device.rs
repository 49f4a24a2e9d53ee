//! The devices that `--device` selects.

use anyhow::{Context as _, bail};
use hashlane_base58::{CpuBackend, SearchBackend, SeveralBackends};
use hashlane_gpu::{Adapter, DeviceError, GpuBackend, Limits};

/// Returns the backend for a value of `--device`. Passes a warning for each device that cannot be used to `warn`.
pub(super) fn backend(
    device: &str,
    cpu: CpuBackend,
    warn: impl FnMut(&str),
) -> anyhow::Result<Box<dyn SearchBackend>> {
    if device == "cpu" {
        return Ok(Box::new(cpu));
    }
    select(device, cpu, warn).with_context(|| format!("--device {device}"))
}

fn select(
    device: &str,
    cpu: CpuBackend,
    warn: impl FnMut(&str),
) -> anyhow::Result<Box<dyn SearchBackend>> {
    let found = hashlane_gpu::adapters()?;
    let mut backends: Vec<Box<dyn SearchBackend>> = Vec::new();
    if device == "all" {
        backends.push(Box::new(cpu));
    }
    let selected = found.iter().filter(|adapter| is_selected(adapter, device));
    let opened = selected.map(|adapter| {
        let gpu = adapter
            .open()
            .and_then(|opened| GpuBackend::new(opened, cpu, Limits::default()));
        (adapter.name.as_str(), gpu)
    });
    add_usable(&mut backends, opened, warn)?;
    if backends.is_empty() {
        let names: Vec<&str> = found.iter().map(|adapter| adapter.name.as_str()).collect();
        match names.as_slice() {
            [] => bail!("no driver for Vulkan was found; install the driver of the GPU"),
            _ => bail!("no such device; the devices are: {}", names.join("; ")),
        }
    }
    Ok(Box::new(SeveralBackends::new(backends)))
}

/// Adds the devices that can be used. The others lead to warnings, or to an error if there is no backend.
fn add_usable<'d, B: SearchBackend + 'static>(
    backends: &mut Vec<Box<dyn SearchBackend>>,
    opened: impl Iterator<Item = (&'d str, Result<B, DeviceError>)>,
    mut warn: impl FnMut(&str),
) -> anyhow::Result<()> {
    let mut failures = Vec::new();
    for (name, backend) in opened {
        match backend {
            Ok(backend) => backends.push(Box::new(backend)),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    if backends.is_empty() && !failures.is_empty() {
        bail!("{}", failures.join("; "));
    }
    for failure in failures {
        warn(&format!("{failure}; the search does without this device"));
    }
    Ok(())
}

/// Returns `true` if `--device` selects this device. Software is selected only by its name: it runs on the
/// same cores as the faster kernels of the CPU.
fn is_selected(adapter: &Adapter, device: &str) -> bool {
    match device {
        "gpu" | "all" => !adapter.is_software,
        name => adapter.name.to_lowercase().contains(&name.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use hashlane_base58::{CpuBackend, SearchBackend};
    use hashlane_gpu::DeviceError;

    use super::add_usable;

    fn cpu() -> CpuBackend {
        CpuBackend::fastest(None, None).expect("a kernel")
    }

    fn lost() -> Result<CpuBackend, DeviceError> {
        Err(DeviceError("out of memory".into()))
    }

    /// Returns the number of backends, and the warnings.
    fn usable(
        with_cpu: bool,
        opened: Vec<(&str, Result<CpuBackend, DeviceError>)>,
    ) -> Result<(usize, Vec<String>), String> {
        let mut backends: Vec<Box<dyn SearchBackend>> = Vec::new();
        if with_cpu {
            backends.push(Box::new(cpu()));
        }
        let mut warnings = Vec::new();
        let warn = |warning: &str| warnings.push(warning.to_owned());
        add_usable(&mut backends, opened.into_iter(), warn).map_err(|error| error.to_string())?;
        Ok((backends.len(), warnings))
    }

    #[test]
    fn the_search_does_without_devices_that_cannot_be_used() {
        let warning = "B: out of memory; the search does without this device".to_owned();
        let one_lost = vec![("A", Ok(cpu())), ("B", lost())];
        assert_eq!(usable(false, one_lost), Ok((1, vec![warning.clone()])));
        let with_cpu = usable(true, vec![("B", lost())]);
        assert_eq!(with_cpu, Ok((1, vec![warning])));
    }

    #[test]
    fn devices_that_cannot_be_used_are_an_error_if_there_are_no_others() {
        let all_lost = vec![("A", lost()), ("B", lost())];
        let error = "A: out of memory; B: out of memory".to_owned();
        assert_eq!(usable(false, all_lost), Err(error));
        assert_eq!(usable(false, vec![]), Ok((0, vec![])));
    }
}
