//! Nothing in the repository may name the machine that it was written on: no home folder, no path of
//! this checkout, no package registry's host in a lock file.

use std::path::Path;

use crate::check::Violation;
use crate::check::sources::Sources;
use crate::workspace::Workspace;

/// Folders that anybody's machine has; a checkout below one of them gives nothing away.
const EVERYWHERE: [&str; 9] = ["/", "/tmp", "/var/tmp", "/home", "/srv", "/opt", "/usr/src", "/src", "/mnt"];

/// Finds paths and hosts of a machine.
pub fn check(workspace: &Workspace, sources: &Sources) -> Vec<Violation> {
    let homes = ["HOME", "CARGO_HOME", "RUSTUP_HOME"].map(|name| std::env::var(name).unwrap_or_default());
    search(sources, &telling(&workspace.root, &homes))
}

/// The paths that would tell of this machine.
fn telling(root: &Path, homes: &[String]) -> Vec<String> {
    let mut paths: Vec<String> = ["/root/", "/home/", "/Users/"].map(|parts| parts.to_owned()).to_vec();
    let here = root.ancestors().take(2).map(|folder| folder.display().to_string());
    for path in here.chain(homes.iter().map(|home| home.trim_end_matches('/').to_owned())) {
        let path_is_telling = path.len() > 1 && !EVERYWHERE.contains(&path.as_str());
        if path_is_telling {
            paths.push(format!("{path}/"));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn search(sources: &Sources, telling: &[String]) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in sources.0.iter().filter(|source| source.path != file!()) {
        for (number, line) in source.text.lines().enumerate() {
            for path in telling.iter().filter(|path| names(line, path)) {
                found.push(Violation::at(
                    source,
                    number + 1,
                    format!("names a folder of one machine: {path}…"),
                ));
            }
        }
        let is_lock = source.path.ends_with("package-lock.json");
        if is_lock && source.text.contains("\"resolved\": \"http") {
            let what =
                "records where packages came from: keep end2end/.npmrc's omit-lockfile-registry-resolved";
            found.push(Violation::of_file(&source.path, what));
        }
    }
    found
}

/// Whether an absolute path begins here: not the tail of an address or of a longer path.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/}$~".contains(c))
            && after.is_some_and(|c| c.is_alphanumeric() || "._-".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_paths_and_hosts_are_found() {
        let telling = telling(Path::new("/builds/holdfast"), &["/home/ada".to_owned()]);
        let sources = Sources::of(&[
            ("README.md", "see /builds/holdfast/README.md\nand /home/ada/notes\n"),
            ("docs/a.md", "https://example.org/home/page, $X/root/a, /home/ alone"),
            ("end2end/package-lock.json", "{\n\"resolved\": \"https://packages.example/a.tgz\" }"),
        ]);
        let places: Vec<String> =
            search(&sources, &telling).iter().map(|v| format!("{}:{}", v.file, v.line)).collect();
        assert!(places.contains(&"README.md:1".to_owned()));
        assert!(places.contains(&"README.md:2".to_owned()));
        assert!(places.contains(&"end2end/package-lock.json:0".to_owned()));
        assert!(!places.iter().any(|place| place.starts_with("docs")));
    }

    #[test]
    fn a_checkout_in_a_common_folder_tells_nothing() {
        let paths = telling(Path::new("/tmp/holdfast"), &[]);
        assert_eq!(paths, ["/Users/", "/home/", "/root/", "/tmp/holdfast/"]);
    }
}
