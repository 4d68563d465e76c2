//! Compressed copies beside the site's files, so that the server never compresses anything itself.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use brotli::enc::BrotliEncoderParams;
use flate2::{Compression, write::GzEncoder};

/// Writes `FILE.br` and `FILE.gz` beside every file of the folder and its subfolders.
pub fn folder(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            self::folder(&path)?;
        } else {
            let bytes = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            let name = path.as_os_str().to_os_string();
            let beside = |ending: &str| {
                let mut name = name.clone();
                name.push(ending);
                name
            };
            fs::write(beside(".br"), by_brotli(&bytes)?)?;
            fs::write(beside(".gz"), by_gzip(&bytes)?)?;
        }
    }
    Ok(())
}

fn by_brotli(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let parameters =
        BrotliEncoderParams { quality: 11, lgwin: 24, size_hint: bytes.len(), ..Default::default() };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut bytes, &mut out, &parameters)?;
    Ok(out)
}

fn by_gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn both_copies_unpack_to_the_original() {
        let bytes = b"a trip through three agents ".repeat(200);
        let mut plain = Vec::new();
        let packed = by_brotli(&bytes).expect("packs");
        brotli::BrotliDecompress(&mut packed.as_slice(), &mut plain).expect("unpacks");
        assert_eq!(plain, bytes);
        assert!(packed.len() < bytes.len() / 10);

        plain.clear();
        let packed = by_gzip(&bytes).expect("packs");
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut plain).expect("unpacks");
        assert_eq!(plain, bytes);
    }
}
