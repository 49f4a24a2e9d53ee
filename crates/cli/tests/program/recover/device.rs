//! `--device`: with the feature `gpu`, on a device of Vulkan; without it, a refusal.

use super::{FOUND, LOST, recover};

#[test]
fn the_cpu_is_always_a_device() {
    let ended = recover(&["-q", "--device", "cpu", LOST]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{FOUND}\n")));
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_program_without_gpus_says_so() {
    for device in ["gpu", "all", "nvidia"] {
        let ended = recover(&["-q", "--device", device, LOST]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let reason = format!("--device {device}: this program was built without GPUs");
        assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
    }
}

#[cfg(feature = "gpu")]
mod gpu {
    use std::fs;
    #[cfg(unix)]
    use std::time::Duration;

    use super::super::{FOUND, LOST, recover};
    use crate::fixture::{end, hashlane};
    #[cfg(unix)]
    use crate::interrupt::interrupt;

    /// The device of Debian's `mesa-vulkan-drivers`, which computes on the CPU.
    const DEVICE: [&str; 2] = ["--device", "llvmpipe"];

    const LONGER: &str = "18ryviovmwfyzhrzktjkqgycjkujoxh3k6";
    const LONGER_FOUND: &str = "18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6";

    /// Returns whether the device exists, and prints that nothing is run if not.
    fn has_device() -> bool {
        let ended = recover(&["-q", "--device", "llvmpipe", "--estimate", "--glyphs", LOST]);
        if ended.code == Some(0) {
            return true;
        }
        assert!(
            std::env::var_os("HASHLANE_TEST_REQUIRE_GPU").is_none(),
            "HASHLANE_TEST_REQUIRE_GPU: {}",
            ended.stderr
        );
        println!(
            "NOT RUN: tests of `recover --device`: there is no llvmpipe (mesa-vulkan-drivers)"
        );
        false
    }

    #[test]
    fn a_device_finds_the_same() {
        if !has_device() {
            return;
        }
        let ended = recover(&[&DEVICE[..], &["--json", "--case=lost", LONGER]].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let summary = ended.stdout.lines().last().unwrap();
        let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
        assert_eq!(summary["hits"][0], LONGER_FOUND);
        assert!(
            summary["kernel"].as_str().unwrap().contains("llvmpipe"),
            "{summary}"
        );
        let cpu = recover(&["--json", "--case=lost", LONGER]);
        let of_cpu: serde_json::Value =
            serde_json::from_str(cpu.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(summary["hashes"], of_cpu["hashes"]);
    }

    #[test]
    fn a_search_can_be_resumed_and_sharded() {
        if !has_device() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let state = state.to_str().unwrap();
        for device in [DEVICE[1], "cpu"] {
            let ended = recover(&["-q", "--device", device, "--resume", state, LONGER]);
            let expected = (Some(0), format!("{LONGER_FOUND}\n"));
            assert_eq!((ended.code, ended.stdout), expected, "{}", ended.stderr);
        }
        assert!(!fs::read_to_string(state).unwrap().contains("18ry"));
        let mut hits = 0;
        for shard in ["1/3", "2/3", "3/3"] {
            let ended = recover(&[&DEVICE[..], &["-q", "--shard", shard, LONGER]].concat());
            hits += ended.stdout.lines().count();
        }
        assert_eq!(hits, 1);
    }

    #[cfg(unix)]
    #[test]
    fn an_interrupted_search_continues_on_the_cpu() {
        if !has_device() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let path = state.to_str().unwrap();
        let text = "1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let args = ["-q", "--case=lost", "--resume", path, text];
        let child = hashlane()
            .arg("recover")
            .args(DEVICE)
            .args(args)
            .spawn()
            .unwrap();
        while !state.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(interrupt(child).status.code(), Some(2));
        let rest = recover(&[
            "--estimate",
            "--json",
            "--case=lost",
            "--resume",
            path,
            text,
        ]);
        let estimate: serde_json::Value = serde_json::from_str(&rest.stdout).unwrap();
        let number = |name: &str| estimate[name].as_f64().unwrap();
        assert!(number("remaining_hashes") < number("hashes"), "{estimate}");
    }

    #[test]
    fn an_unknown_device_is_refused_with_the_known_ones() {
        if !has_device() {
            return;
        }
        let ended = recover(&["-q", "--device", "abacus", LOST]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let reason = "--device abacus: no such device; the devices are: ";
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
        assert!(ended.stderr.contains("llvmpipe"), "{}", ended.stderr);
    }

    #[test]
    fn without_a_driver_the_cpu_searches_or_the_device_is_refused() {
        // The loader of Vulkan reads no drivers but those listed.
        let without = |device: &str| {
            let mut command = hashlane();
            command.args(["recover", "-q", "--device", device, LOST]);
            end(command.env("VK_DRIVER_FILES", "/nonexistent.json"))
        };
        let ended = without("all");
        let expected = (Some(0), format!("{FOUND}\n"));
        assert_eq!((ended.code, ended.stdout), expected, "{}", ended.stderr);
        let ended = without("gpu");
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let reason = "--device gpu: no driver for Vulkan was found";
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }

    #[test]
    fn kernels_lists_devices_with_their_rates() {
        if !has_device() {
            return;
        }
        let ended = end(hashlane().args(["kernels", "--json"]));
        let lines = ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let devices: Vec<serde_json::Value> = lines
            .filter(|line: &serde_json::Value| line["type"] == "device")
            .collect();
        assert!(
            devices[0]["name"].as_str().unwrap().starts_with("sha256d_"),
            "{devices:?}"
        );
        let is_llvmpipe = |device: &&serde_json::Value| {
            device["name"].as_str().unwrap().contains("llvmpipe") && device["software"] == true
        };
        let device = devices.iter().find(is_llvmpipe).unwrap();
        assert!(
            device["hashes_per_second"].as_f64().unwrap() > 0.0,
            "{device}"
        );
    }
}
