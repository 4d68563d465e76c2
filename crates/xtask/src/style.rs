//! The style sheet: the files of `style/`, one after the other.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The files that come first, in this order; the others follow by name.
const FIRST: [&str; 4] = ["tokens.css", "base.css", "components.css", "pages.css"];

/// All style sheets of the folder as one.
pub fn sheet(folder: &Path) -> Result<String> {
    let mut names = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".css") {
            names.push(name);
        }
    }
    in_order(&mut names);
    let mut sheet = String::new();
    for name in names {
        let path = folder.join(&name);
        sheet += &fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        if !sheet.ends_with('\n') {
            sheet.push('\n');
        }
    }
    Ok(sheet)
}

fn in_order(names: &mut [String]) {
    names.sort_by_key(|name| {
        let place = FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len());
        (place, name.clone())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_first_and_strangers_last() {
        let mut names = ["desk.css", "pages.css", "base.css", "alpha.css", "tokens.css"].map(str::to_owned);
        in_order(&mut names);
        assert_eq!(names, ["tokens.css", "base.css", "pages.css", "alpha.css", "desk.css"]);
    }
}
