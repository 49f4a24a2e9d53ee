//! Lengths as people read them.

use std::fmt;

/// Bytes as people read them: `306 KiB`, `1.50 GiB`, `17 bytes`.
#[derive(Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let text = if self.0 < 1024 {
            format!("{} byte{}", self.0, if self.0 == 1 { "" } else { "s" })
        } else {
            #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
            let mut value = self.0 as f64 / 1024.0;
            let mut unit = 0;
            // 999.5 would be shown with four digits.
            while value >= 999.5 && unit + 1 < UNITS.len() {
                value /= 1024.0;
                unit += 1;
            }
            // Whole numbers need no zeros: lengths of pieces are powers of two.
            let decimals = match value {
                _ if value.fract() == 0.0 => 0,
                _ if value < 9.995 => 2,
                _ if value < 99.95 => 1,
                _ => 0,
            };
            format!("{value:.decimals$} {}", UNITS[unit])
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let shown = [
            0,
            1,
            1023,
            1024,
            1536,
            16384,
            313_706,
            1_047_552,
            1 << 20,
            508_559_360,
        ];
        let shown = shown.map(|bytes| Size(bytes).to_string());
        let expected = [
            "0 bytes",
            "1 byte",
            "1023 bytes",
            "1 KiB",
            "1.50 KiB",
            "16 KiB",
            "306 KiB",
            "1.00 MiB",
            "1 MiB",
            "485 MiB",
        ];
        assert_eq!(shown, expected);
        assert_eq!(Size(u64::MAX).to_string(), "16 EiB");
    }
}
