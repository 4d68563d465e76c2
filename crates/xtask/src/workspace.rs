//! Where things are: the workspace's folders, and the files that a build leaves in them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The name that the files of the site begin with, and the stem of the database in `data/`.
pub const OUTPUT_NAME: &str = "holdfast";
/// The folder below the site's root that holds the hashed files.
pub const PKG_DIR: &str = "pkg";

/// Debug builds for development and tests, release builds for use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Unoptimised, obeys `HOLDFAST_CRASH_AT`.
    Debug,
    /// Optimised, with precompressed site files.
    Release,
}

impl Mode {
    /// The profile of the browser's half.
    pub fn wasm_profile(self) -> &'static str {
        match self {
            Mode::Debug => "wasm-dev",
            Mode::Release => "wasm-release",
        }
    }

    /// The name of the target folder's subfolder with the binaries.
    pub fn folder(self) -> &'static str {
        match self {
            Mode::Debug => "debug",
            Mode::Release => "release",
        }
    }
}

/// The folders of one checkout.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder with the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
}

impl Workspace {
    /// The workspace around the current folder.
    pub fn find() -> Result<Self> {
        let here = std::env::current_dir().context("the current folder cannot be read")?;
        let Some(root) = here.ancestors().find(|folder| folder.join("crates/xtask/Cargo.toml").is_file())
        else {
            bail!("{} is not inside Holdfast's workspace", here.display());
        };
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => here.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root: root.to_owned(), target })
    }

    /// The folder with the binaries of a mode, and with `hash.txt`.
    pub fn binaries(&self, mode: Mode) -> PathBuf {
        self.target.join(mode.folder())
    }

    /// The server's binary.
    pub fn app(&self, mode: Mode) -> PathBuf {
        self.binaries(mode).join("holdfast")
    }

    /// The demo world's binary.
    pub fn demo(&self, mode: Mode) -> PathBuf {
        self.binaries(mode).join("holdfast-demo")
    }

    /// The site's root: for a release beside the binaries, so that the folder can be moved as a whole.
    pub fn site(&self, mode: Mode) -> PathBuf {
        match mode {
            Mode::Debug => self.target.join("site"),
            Mode::Release => self.binaries(mode).join("site"),
        }
    }

    /// The file that tells the server the hashes in the names of the site's files.
    pub fn hash_file(&self, mode: Mode) -> PathBuf {
        self.binaries(mode).join("hash.txt")
    }

    /// The browser tests' folder.
    pub fn end2end(&self) -> PathBuf {
        self.root.join("end2end")
    }

    /// A path as a person would write it: relative to the root where it is below it.
    pub fn show<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }

    /// The environment by which the server finds the site. Nothing of Leptos' own may be set
    /// for a cargo that we start: `LEPTOS_OUTPUT_NAME` would have it build Leptos again.
    pub fn site_env(&self, mode: Mode) -> (&'static str, PathBuf) {
        ("HOLDFAST_SITE_ROOT", self.site(mode))
    }
}
