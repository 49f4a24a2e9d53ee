//! Devices of Vulkan (on macOS, of Metal), through `wgpu`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use hashlane_base58::{Addends, Shape};
use wgpu::{
    BindGroup, BindGroupEntry, Buffer, BufferDescriptor, BufferUsages, ComputePipeline,
    ComputePipelineDescriptor, PollType, ShaderModuleDescriptor, ShaderSource,
};

use crate::device::{Answer, Device, DeviceError, Loaded};
use crate::launch::{Found, Launch, QueryWords};
use crate::shader::{MAX_STEPS, kernel_source};

/// The maximum number of queries in a launch. Each is a workgroup, and every device of Vulkan runs
/// this many. Together they are 4 MiB.
const MAX_QUERIES: usize = 65_535;

/// Number of matches for which a launch has room. The results of a launch are 192 KiB, which takes
/// about 20 µs to copy.
const MAX_FOUND: usize = 1 << 14;

/// The time after which a launch of a GPU, which should take 40 ms, is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same for a device of software. It compiles a kernel at its first launch, and shares the
/// processors with everything else on the machine.
const PATIENCE_WITH_SOFTWARE: Duration = Duration::from_secs(300);

/// Number of words of `Params` in the kernel.
const N_PARAMS: usize = 4 + MAX_STEPS;

/// Returns the devices of all drivers.
pub(crate) fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    // No validation layers, which debug builds would load.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY))
}

/// An open device.
pub(crate) struct VulkanDevice {
    name: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
    max_queries: usize,
    /// The time after which a launch is given up.
    patience: Duration,
    kernels: Mutex<HashMap<Shape, ComputePipeline>>,
    /// The first error. The driver reports errors to a callback, on any thread.
    error: Arc<OnceLock<String>>,
}

impl fmt::Debug for VulkanDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VulkanDevice").field(&self.name).finish()
    }
}

impl VulkanDevice {
    pub(crate) fn open(adapter: &wgpu::Adapter) -> Result<Self, DeviceError> {
        let limits = adapter.limits();
        let max_queries = limits.max_compute_workgroups_per_dimension as usize;
        let descriptor = wgpu::DeviceDescriptor {
            required_limits: limits,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|error| DeviceError(error.to_string()))?;
        let error = Arc::new(OnceLock::new());
        let first = Arc::clone(&error);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let _ = first.set(error.to_string());
        }));
        let first = Arc::clone(&error);
        device.set_device_lost_callback(move |_, message| {
            let _ = first.set(format!("the device was lost: {message}"));
        });
        let info = adapter.get_info();
        Ok(Self {
            name: info.name,
            device,
            queue,
            max_queries: max_queries.min(MAX_QUERIES),
            patience: match info.device_type {
                wgpu::DeviceType::Cpu => PATIENCE_WITH_SOFTWARE,
                _ => PATIENCE,
            },
            kernels: Mutex::default(),
            error,
        })
    }

    /// Fails if there was an error.
    fn check(&self) -> Result<(), DeviceError> {
        match self.error.get() {
            Some(error) => Err(DeviceError(error.clone())),
            None => Ok(()),
        }
    }

    /// Returns the kernel for messages of this shape.
    fn kernel(&self, shape: Shape) -> ComputePipeline {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let kernel = kernels.entry(shape).or_insert_with_key(|shape| {
            let module = self.device.create_shader_module(ShaderModuleDescriptor {
                label: None,
                source: ShaderSource::Wgsl(kernel_source(*shape).into()),
            });
            self.device
                .create_compute_pipeline(&ComputePipelineDescriptor {
                    label: None,
                    layout: None,
                    module: &module,
                    entry_point: Some("search"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                })
        });
        kernel.clone()
    }

    fn buffer(&self, n_words: usize, usage: BufferUsages) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: None,
            size: 4 * n_words as u64,
            usage,
            mapped_at_creation: false,
        })
    }
}

impl Device for VulkanDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn max_queries(&self) -> usize {
        self.max_queries
    }

    fn load<'d>(&'d self, addends: &Addends<'_>) -> Result<Box<dyn Loaded + 'd>, DeviceError> {
        let kernel = self.kernel(addends.shape());
        let columns: Vec<&[u32]> = std::iter::once(addends.low())
            .chain(addends.columns())
            .collect();
        let columns = columns.concat();
        let copied = BufferUsages::COPY_DST;
        let tables = self.buffer(columns.len(), BufferUsages::STORAGE | copied);
        let params = self.buffer(N_PARAMS, BufferUsages::UNIFORM | copied);
        let n_found = 1 + 3 * MAX_FOUND;
        let found = self.buffer(
            n_found,
            BufferUsages::STORAGE | copied | BufferUsages::COPY_SRC,
        );
        let results = self.buffer(n_found, BufferUsages::MAP_READ | copied);
        self.queue
            .write_buffer(&tables, 0, bytemuck::cast_slice(&columns));
        self.check()?;
        Ok(Box::new(VulkanTables {
            device: self,
            kernel,
            stride: addends.len() as u32,
            params,
            tables,
            found,
            results,
            queries: None,
        }))
    }
}

/// A table of addends in the memory of the device, and the buffers for launches.
struct VulkanTables<'d> {
    device: &'d VulkanDevice,
    kernel: ComputePipeline,
    /// Number of words in a column.
    stride: u32,
    params: Buffer,
    tables: Buffer,
    found: Buffer,
    results: Buffer,
    /// The buffer of the queries, made for the first launch and for one that needs more room.
    queries: Option<Queries>,
}

/// Room for the queries of a launch, and the binding of all buffers.
#[derive(Clone)]
struct Queries {
    buffer: Buffer,
    group: BindGroup,
}

impl VulkanTables<'_> {
    /// Returns the words of `Params` in the kernel.
    fn params_of(&self, launch: &Launch) -> Result<[u32; N_PARAMS], DeviceError> {
        let steps = launch.tail();
        let mut params = [0; N_PARAMS];
        let Some(room) = params[4..].get_mut(..steps.len()) else {
            let n = steps.len();
            return Err(DeviceError(format!(
                "the tail has {n} steps, more than {MAX_STEPS}"
            )));
        };
        room.copy_from_slice(steps);
        let greatest_tail = steps
            .iter()
            .fold(0_u32, |sum, step| sum.saturating_add(*step));
        params[..4].copy_from_slice(&[
            self.stride,
            launch.message_bits(),
            steps.len() as u32,
            greatest_tail,
        ]);
        Ok(params)
    }
}

impl VulkanTables<'_> {
    /// Returns room for this many queries.
    fn queries_for(&mut self, n: usize) -> Queries {
        let is_enough =
            |queries: &&Queries| queries.buffer.size() >= (n * size_of::<QueryWords>()) as u64;
        if let Some(queries) = self.queries.as_ref().filter(is_enough) {
            return queries.clone();
        }
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let n_words = n.next_power_of_two() * size_of::<QueryWords>() / 4;
        let buffer = self.device.buffer(n_words, usage);
        let buffers = [&self.params, &self.tables, &buffer, &self.found];
        let entries: Vec<BindGroupEntry<'_>> = buffers
            .into_iter()
            .zip(0..)
            .map(|(buffer, binding)| BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.kernel.get_bind_group_layout(0),
            entries: &entries,
        };
        let group = self.device.device.create_bind_group(&descriptor);
        self.queries.insert(Queries { buffer, group }).clone()
    }
}

impl Loaded for VulkanTables<'_> {
    fn run(&mut self, launch: &Launch) -> Result<Answer, DeviceError> {
        let params = self.params_of(launch)?;
        let queries = self.queries_for(launch.words().len());
        let VulkanDevice {
            device,
            queue,
            patience,
            ..
        } = self.device;
        queue.write_buffer(&self.params, 0, bytemuck::cast_slice(&params));
        queue.write_buffer(&queries.buffer, 0, bytemuck::cast_slice(launch.words()));
        queue.write_buffer(&self.found, 0, &[0; 4]);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.kernel);
            pass.set_bind_group(0, &queries.group, &[]);
            pass.dispatch_workgroups(launch.words().len() as u32, 1, 1);
        }
        encoder.copy_buffer_to_buffer(&self.found, 0, &self.results, 0, None);
        let submission = queue.submit([encoder.finish()]);
        let (sender, receiver) = mpsc::channel();
        self.results
            .map_async(wgpu::MapMode::Read, .., move |mapped| {
                // The receiver is gone if the launch was given up.
                let _ = sender.send(mapped);
            });
        let waited = device.poll(PollType::Wait {
            submission_index: Some(submission),
            timeout: Some(*patience),
        });
        self.device.check()?;
        waited.map_err(|error| DeviceError(format!("a launch did not end: {error}")))?;
        // Another thread that waits can have polled first, and calls back soon.
        let mapped = receiver.recv_timeout(*patience);
        self.device.check()?;
        match mapped {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(DeviceError(error.to_string())),
            Err(_) => return Err(DeviceError("the results of a launch did not arrive".into())),
        }
        let answer = {
            let view = self.results.get_mapped_range(..);
            let view = view.map_err(|error| DeviceError(error.to_string()))?;
            answer(bytemuck::cast_slice(&view))
        };
        self.results.unmap();
        Ok(answer)
    }
}

/// Reads `Found` of the kernel.
fn answer(words: &[u32]) -> Answer {
    let (n_found, words) = words.split_first().expect("the number of matches");
    let n_found = *n_found as usize;
    let found = words.as_chunks().0.iter().take(n_found);
    let found = found.map(|&[query, addend, tail]| Found {
        query,
        addend,
        tail,
    });
    Answer {
        found: found.collect(),
        n_found,
    }
}
