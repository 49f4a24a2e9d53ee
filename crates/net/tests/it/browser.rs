//! Controls headless Chromium with `WebDriver`.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::http::ask;
use crate::not_run::is_installed;

/// Time limit for every step on a page.
const PATIENCE: Duration = Duration::from_secs(120);

/// The reasons of `WebDriver` for which an element cannot be used yet.
const TOO_EARLY: [&str; 4] = [
    "element click intercepted",
    "element not interactable",
    "no such element",
    "stale element reference",
];

/// A browser that ends with the test.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let request = format!("DELETE /session/{}", self.session);
        if !self.session.is_empty() && TcpStream::connect(self.address).is_ok() {
            ask(self.address, &request, &[], "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Starts the browser, or reports that it is not installed.
    pub(crate) fn start() -> Option<Self> {
        if !is_installed("BROWSER", "chromedriver", "chromium-driver") {
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={}", free.port()));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut browser = Self {
            driver: command.spawn().unwrap(),
            address: free,
            session: String::new(),
        };
        let started = Instant::now();
        while TcpStream::connect(free).is_err() {
            assert!(started.elapsed() < PATIENCE, "chromedriver does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        // Root cannot use the sandbox, and containers have little shared memory.
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--window-size=1100,800",
        ];
        let options = json!({"goog:chromeOptions": {"args": args}});
        let capabilities = json!({"capabilities": {"alwaysMatch": options}});
        let response = ask(free, "POST /session", &[], &capabilities.to_string());
        let value = &response.json()["value"];
        let id = value["sessionId"].as_str();
        browser.session = id.unwrap_or_else(|| panic!("{value}")).into();
        Some(browser)
    }

    /// Sends a command; `Err` is the answer that refuses it.
    fn attempt(&self, name: &str, body: &Value) -> Result<Value, Value> {
        let request = format!("POST /session/{}/{name}", self.session);
        let response = ask(self.address, &request, &[], &body.to_string());
        let value = response.json()["value"].clone();
        if response.status == 200 {
            Ok(value)
        } else {
            Err(value)
        }
    }

    #[track_caller]
    fn command(&self, name: &str, body: &Value) -> Value {
        self.attempt(name, body)
            .unwrap_or_else(|error| panic!("{name} {body}: {error}"))
    }

    /// Does something with the element that a selector finds, once the page has it and nothing covers it: a page follows a
    /// click or an answer at its own time, and a user waits for it.
    #[track_caller]
    fn act(&self, selector: &str, name: &str, body: &Value) {
        let started = Instant::now();
        loop {
            let done = self
                .find(selector)
                .and_then(|element| self.attempt(&format!("{element}/{name}"), body));
            let Err(error) = done else { return };
            let is_too_early = TOO_EARLY.iter().any(|code| error["error"] == *code);
            assert!(
                is_too_early && started.elapsed() < PATIENCE,
                "{name} {selector}: {error}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn open(&self, url: &str) {
        self.command("url", &json!({"url": url}));
    }

    /// Opens another tab; the following commands apply to it.
    pub(crate) fn open_tab(&self) {
        let tab = self.command("window/new", &json!({"type": "tab"}));
        self.command("window", &json!({"handle": tab["handle"]}));
    }

    /// Returns the result of a script.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until a script returns true.
    pub(crate) fn wait_for(&self, script: &str) {
        let started = Instant::now();
        while self.run(script) != Value::Bool(true) {
            let page = self.run("return document.body.innerText");
            assert!(started.elapsed() < PATIENCE, "{script}: {page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until a script returns this value. A page follows a click or a key at its own time.
    #[track_caller]
    pub(crate) fn expect(&self, script: &str, expected: impl Serialize) {
        let expected = json!(expected);
        let started = Instant::now();
        loop {
            let value = self.run(script);
            if value == expected {
                return;
            }
            if started.elapsed() > PATIENCE {
                assert_eq!(value, expected, "{script}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks the element that a selector finds, as a user does.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        self.act(selector, "click", &json!({}));
    }

    /// Replaces the text of a field.
    #[track_caller]
    pub(crate) fn write(&self, selector: &str, text: &str) {
        self.act(selector, "clear", &json!({}));
        if !text.is_empty() {
            self.press(selector, text);
        }
    }

    /// Sends keys to an element, as a keyboard does.
    #[track_caller]
    pub(crate) fn press(&self, selector: &str, keys: &str) {
        self.act(selector, "value", &json!({"text": keys}));
    }

    /// Drags the middle of an element to the middle of another one.
    pub(crate) fn drag(&self, from: &str, to: &str) {
        let origin = |selector: &str| {
            let element = self.find(selector).unwrap();
            let id = element.trim_start_matches("element/");
            json!({"element-6066-11e4-a52e-4f735466cecf": id})
        };
        let move_to = |selector: &str| json!({"type": "pointerMove", "duration": 100, "x": 0, "y": 0, "origin": origin(selector)});
        let actions = json!([
            move_to(from),
            {"type": "pointerDown", "button": 0},
            move_to(to),
            {"type": "pointerUp", "button": 0},
        ]);
        let pointer = json!({"type": "pointer", "id": "mouse", "actions": actions});
        self.command("actions", &json!({"actions": [pointer]}));
    }

    /// Returns the path of the element that a selector finds.
    fn find(&self, selector: &str) -> Result<String, Value> {
        let body = json!({"using": "css selector", "value": selector});
        let found = self.attempt("element", &body)?;
        let id = found.as_object().unwrap().values().next().unwrap().clone();
        Ok(format!("element/{}", id.as_str().unwrap()))
    }

    /// Sends a command of the Chrome `DevTools` Protocol.
    fn devtools(&self, name: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": name, "params": parameters});
        self.command("goog/cdp/execute", &body)
    }

    /// Gives the page the size, and the preference for dark or light colours, of a device.
    pub(crate) fn emulate(&self, width: u32, height: u32, is_dark: bool) {
        let metrics = json!({
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": width < 500,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    /// Gives the page the few colours of a system with high contrast.
    pub(crate) fn emulate_high_contrast(&self) {
        let features = json!({"features": [{"name": "forced-colors", "value": "active"}]});
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    /// Lets requests for these addresses fail, in which `*` is any text.
    pub(crate) fn block(&self, addresses: &[&str]) {
        self.devtools("Network.enable", &json!({}));
        self.devtools("Network.setBlockedURLs", &json!({"urls": addresses}));
    }

    /// Saves a screenshot in the folder that `HASHLANE_TEST_PICTURES` names, or below `target`.
    pub(crate) fn picture(&self, name: &str) {
        let folder = std::env::var_os("HASHLANE_TEST_PICTURES").map_or_else(
            || Path::new(env!("CARGO_TARGET_TMPDIR")).join("page"),
            Into::into,
        );
        std::fs::create_dir_all(&folder).unwrap();
        let value = self.devtools("Page.captureScreenshot", &json!({"format": "png"}));
        let bytes = data_encoding::BASE64.decode(value["data"].as_str().unwrap().as_bytes());
        std::fs::write(folder.join(name), bytes.unwrap()).unwrap();
    }
}
