//! The devices of this system.

use crate::device::{Device, DeviceError};
#[cfg(feature = "vulkan")]
use crate::vulkan;

/// A device of this system that is not in use yet.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// The name, for example `NVIDIA H100 PCIe`.
    pub name: String,
    /// The driver and its version.
    pub driver: String,
    /// Whether the driver computes on the CPU.
    pub is_software: bool,
    #[cfg(feature = "vulkan")]
    inner: wgpu::Adapter,
}

/// Returns the devices of this system, GPUs first. There are none without a driver.
///
/// # Errors
/// [`DeviceError`] if this crate was built without the feature `vulkan`.
pub fn adapters() -> Result<Vec<Adapter>, DeviceError> {
    #[cfg(feature = "vulkan")]
    {
        let mut adapters: Vec<Adapter> = vulkan::adapters()
            .into_iter()
            .map(|inner| {
                let info = inner.get_info();
                let driver = format!("{} {}", info.driver, info.driver_info);
                Adapter {
                    name: info.name,
                    driver: driver.trim().to_owned(),
                    is_software: info.device_type == wgpu::DeviceType::Cpu,
                    inner,
                }
            })
            .collect();
        adapters.sort_by_key(|adapter| adapter.is_software);
        Ok(adapters)
    }
    #[cfg(not(feature = "vulkan"))]
    Err(DeviceError("this program was built without GPUs".into()))
}

impl Adapter {
    /// Opens the device.
    ///
    /// # Errors
    /// [`DeviceError`] if the driver refuses.
    pub fn open(&self) -> Result<Box<dyn Device>, DeviceError> {
        #[cfg(feature = "vulkan")]
        return Ok(Box::new(vulkan::VulkanDevice::open(&self.inner)?));
        #[cfg(not(feature = "vulkan"))]
        Err(DeviceError("this program was built without GPUs".into()))
    }
}
