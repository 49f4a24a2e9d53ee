use super::{ISha1, ISha256};

pub struct Sha1Hashlane {
    inner: hashlane_sha::Sha1,
}

impl ISha1 for Sha1Hashlane {
    fn new() -> Self {
        Self {
            inner: hashlane_sha::Sha1::new(),
        }
    }

    fn update(&mut self, buf: &[u8]) {
        self.inner.update(buf);
    }

    fn finish(self) -> [u8; 20] {
        self.inner.finalize().into()
    }
}

pub struct Sha256Hashlane {
    inner: hashlane_sha::Sha256,
}

impl ISha256 for Sha256Hashlane {
    fn new() -> Self {
        Self {
            inner: hashlane_sha::Sha256::new(),
        }
    }

    fn update(&mut self, buf: &[u8]) {
        self.inner.update(buf);
    }

    fn finish(self) -> [u8; 32] {
        self.inner.finalize().into()
    }
}
