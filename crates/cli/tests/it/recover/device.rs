//! `--device`: with the feature `gpu`, on a device of Vulkan; without it, a refusal.

use super::{FOUND, LOST, recover};

#[test]
fn the_cpu_is_always_a_device() {
    let ended = recover(&["-q", "--device", "cpu", LOST]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{FOUND}\n")));
}

/// With the program `hashlane-net` of the same build and without it.
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
    use std::process::Stdio;
    #[cfg(unix)]
    use std::time::Duration;

    use super::super::{FOUND, LOST, recover};
    use crate::fixture::{end, hashlane};
    #[cfg(unix)]
    use crate::interrupt::interrupt;
    use crate::not_run::not_run_unless_required;

    /// The device of Debian's `mesa-vulkan-drivers`, which computes on the CPU.
    const DEVICE: [&str; 2] = ["--device", "llvmpipe"];

    const LONGER: &str = "18ryviovmwfyzhrzktjkqgycjkujoxh3k6";
    const LONGER_FOUND: &str = "18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6";

    /// Returns `true` if the device exists. Reports a missing one.
    fn has_device() -> bool {
        let ended = recover(&["-q", "--device", "llvmpipe", "--estimate", "--glyphs", LOST]);
        if ended.code == Some(0) {
            return true;
        }
        not_run_unless_required(
            "GPU",
            "tests of `recover --device`",
            &format!("llvmpipe cannot be used ({})", ended.stderr),
            "apt-get install mesa-vulkan-drivers",
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
        // All parts together are the whole search: each hit and each hash, once.
        let summary = |args: &[&str]| {
            let ended = recover(&[args, &["--json", "--case=lost", LONGER]].concat());
            assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
            let last: serde_json::Value =
                serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
            last
        };
        let whole = summary(&["--device", "cpu"]);
        let (mut hits, mut hashes) = (Vec::new(), 0);
        for shard in ["1/3", "2/3", "3/3"] {
            let part = summary(&[&DEVICE[..], &["--shard", shard]].concat());
            hits.extend(part["hits"].as_array().unwrap().clone());
            hashes += part["hashes"].as_u64().unwrap();
        }
        assert_eq!(whole["hits"], serde_json::json!([LONGER_FOUND]));
        assert_eq!(
            (&serde_json::Value::from(hits), hashes),
            (&whole["hits"], whole["hashes"].as_u64().unwrap())
        );
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
        let args = ["--json", "--case=lost", "--resume", path, text];
        let child = hashlane()
            .arg("recover")
            .args(DEVICE)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        while !state.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_secs(2));
        let output = interrupt(child);
        assert_eq!(output.status.code(), Some(2));
        let last_line = |lines: &str| -> serde_json::Value {
            serde_json::from_str(lines.lines().last().unwrap()).unwrap()
        };
        let before = last_line(&String::from_utf8(output.stdout).unwrap());
        let resumed = ["--json", "--case=lost", "--resume", path, text];
        let estimate = last_line(&recover(&[&["--estimate"], &resumed[..]].concat()).stdout);
        let rest = recover(&resumed);
        assert_eq!(rest.code, Some(0), "{}", rest.stderr);
        let rest = last_line(&rest.stdout);
        // The only hit is found once, whichever run hashed it. Work that was running is hashed again.
        let hit = serde_json::json!(["1AAAaAAaaAAaAaaaaAAAaAAAaAaaaAAAaa"]);
        assert_eq!(rest["hits"], hit, "{before}");
        let number = |line: &serde_json::Value, name: &str| line[name].as_f64().unwrap();
        let whole = number(&estimate, "hashes");
        assert!(number(&estimate, "remaining_hashes") < whole, "{estimate}");
        let (before, rest) = (number(&before, "hashes"), number(&rest, "hashes"));
        assert!(
            before + rest >= whole,
            "{before} and then {rest} of {whole}"
        );
    }

    /// The limit is compared with the rate of the device. It would take 1.4e9 hashes per second.
    #[test]
    fn a_search_that_takes_too_long_on_the_device_is_refused() {
        if !has_device() {
            return;
        }
        let text = "1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let limit = ["-q", "--case=lost", "--max-time", "0.1s", text];
        let ended = recover(&[&DEVICE[..], &limit].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let reason = "--max-time allows 0.10 s; the search takes ";
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
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

    /// A file that is no library, and a library that is no driver.
    #[test]
    fn a_driver_that_cannot_be_loaded_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let (manifest, file) = (folder.path().join("icd.json"), folder.path().join("file"));
        fs::write(&file, "no library").unwrap();
        for library in [file.to_str().unwrap(), "libm.so.6"] {
            let driver = serde_json::json!({"library_path": library, "api_version": "1.3.0"});
            let text = serde_json::json!({"file_format_version": "1.0.0", "ICD": driver});
            fs::write(&manifest, text.to_string()).unwrap();
            for (device, expected) in [("all", Some(0)), ("gpu", Some(2))] {
                let mut command = hashlane();
                command.args(["recover", "-q", "--device", device, LOST]);
                let ended = end(command.env("VK_DRIVER_FILES", &manifest));
                assert_eq!(ended.code, expected, "{library}: {}", ended.stderr);
                let is_refused = ended.stderr.contains("no driver for Vulkan was found");
                assert_eq!(is_refused, device == "gpu", "{}", ended.stderr);
            }
        }
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
