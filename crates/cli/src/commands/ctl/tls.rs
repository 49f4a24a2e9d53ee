//! Connections with TLS to the server in front of a daemon.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// How to connect to a server that proves its name.
pub(super) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    /// Accepts certificates for this name or address that an authority has signed: one of a file (PEM), or else of the system.
    pub(super) fn new(host: &str, authorities: Option<&Path>) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        if let Some(path) = authorities {
            let context = || path.display().to_string();
            for certificate in CertificateDer::pem_file_iter(path).with_context(context)? {
                roots
                    .add(certificate.with_context(context)?)
                    .with_context(context)?;
            }
            if roots.is_empty() {
                bail!("{}: no certificate in the form PEM", path.display());
            }
        } else {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                bail!("the system has no certificates of authorities: use --ca-file");
            }
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            connector: Arc::new(config).into(),
            name: ServerName::try_from(host.trim_matches(['[', ']']).to_owned())?,
        })
    }

    pub(super) async fn connect(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}
