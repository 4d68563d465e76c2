//! A light reading of Rust: code apart from comments and from what stands in quotes. Enough to
//! search code for words without being fooled by prose.

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The line that it begins on, counted from one.
    pub line: usize,
    /// What stands between the quotes, as written.
    pub text: String,
}

/// A Rust file, read.
#[derive(Clone, Debug, Default)]
pub struct Rust {
    /// The code, as long and with the same lines as the file: comments and quoted text are blanks.
    pub code: String,
    /// The string literals.
    pub literals: Vec<Literal>,
}

/// Reads a file.
pub fn read(text: &str) -> Rust {
    let mut reader = Reader { left: text, line: 1, rust: Rust::default() };
    while reader.step() {}
    reader.rust
}

struct Reader<'a> {
    left: &'a str,
    line: usize,
    rust: Rust,
}

impl Reader<'_> {
    fn step(&mut self) -> bool {
        let left = self.left;
        let Some(first) = left.chars().next() else { return false };
        let in_word = self.rust.code.chars().next_back().is_some_and(is_word);
        if left.starts_with("//") {
            self.blank(left.find('\n').unwrap_or(left.len()));
        } else if left.starts_with("/*") {
            self.blank(block_comment(left));
        } else if let Some((open, close)) = quotes(left, in_word) {
            let inside = &left[open..];
            let length = if close == "\"" && !left[..open].contains('r') {
                escaped_string(inside)
            } else {
                inside.find(&close).unwrap_or(inside.len())
            };
            let text = inside[..length].to_owned();
            self.rust.literals.push(Literal { line: self.line, text });
            self.blank((open + length + close.len()).min(left.len()));
        } else if let Some(length) = character(left) {
            self.blank(length);
        } else {
            self.rust.code.push(first);
            self.skip(first.len_utf8());
        }
        true
    }

    fn blank(&mut self, length: usize) {
        for character in self.left[..length].chars() {
            self.rust.code.push(if character == '\n' { '\n' } else { ' ' });
        }
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        self.line += self.left[..length].matches('\n').count();
        self.left = &self.left[length..];
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string's opening (`"`, `b"`, `r#"`, …) and its closing, if one begins here.
fn quotes(text: &str, in_word: bool) -> Option<(usize, String)> {
    let mut rest = text;
    if !in_word {
        rest = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
        if let Some(raw) = rest.strip_prefix('r') {
            let hashes = raw.len() - raw.trim_start_matches('#').len();
            if raw[hashes..].starts_with('"') {
                let prefix = text.len() - raw.len();
                return Some((prefix + hashes + 1, format!("\"{}", "#".repeat(hashes))));
            }
        }
    }
    rest.starts_with('"').then(|| (text.len() - rest.len() + 1, "\"".to_owned()))
}

fn escaped_string(inside: &str) -> usize {
    let mut escaped = false;
    for (at, character) in inside.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    inside.len()
}

/// The length of a character literal, if one begins here; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut characters = inside.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        characters.next()?;
        let (end, _) = characters.find(|(_, character)| *character == '\'')?;
        return Some(end + 2);
    }
    let (end, second) = characters.next()?;
    (second == '\'').then_some(end + 2)
}

/// The code without its `#[cfg(test)]` modules and items, which become empty lines.
pub fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = code.to_owned();
    while let Some(begin) = kept.find(MARK) {
        let rest = &kept[begin..];
        let end = match rest[MARK.len()..].find(['{', ';']).map(|at| at + MARK.len()) {
            Some(open) if rest[open..].starts_with('{') => open + body(&rest[open..]),
            Some(semicolon) => semicolon + 1,
            None => rest.len(),
        };
        let blank: String = rest[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        kept = format!("{}{blank}{}", &kept[..begin], &kept[begin + end..]);
    }
    kept
}

/// The length of a block in braces at the start of the text.
pub fn body(text: &str) -> usize {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The lines (counted from one) on which a word stands by itself.
pub fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let found = |(number, line): (usize, &str)| has_word(line, word).then_some(number + 1);
    code.lines().enumerate().filter_map(found).collect()
}

/// Whether a word (or a path such as `std::fs`) stands in the text by itself.
pub fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_quotes_are_not_code() {
        let text = "let a = \"sqlx \\\" x\"; // sqlx\n/* sqlx /* sqlx */ */ let b = r#\"sq\"lx\"#;\nlet c = '\"'; sqlx";
        let rust = read(text);
        assert_eq!(lines_with(&rust.code, "sqlx"), [3]);
        assert_eq!(rust.code.lines().count(), 3);
        let texts: Vec<(usize, &str)> = rust.literals.iter().map(|l| (l.line, l.text.as_str())).collect();
        assert_eq!(texts, [(1, "sqlx \\\" x"), (2, "sq\"lx")]);
    }

    #[test]
    fn lifetimes_and_odd_characters_do_not_confuse() {
        let rust = read("fn f<'a>(x: &'a str) -> char { '\\'' } let é = 'é'; let s = b\"é\";\n\"end\"");
        assert!(rust.code.contains("fn f<'a>(x: &'a str) -> char {"));
        assert_eq!(rust.literals.last(), Some(&Literal { line: 2, text: "end".to_owned() }));
    }

    #[test]
    fn tests_are_left_out_and_lines_stay() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}";
        let kept = without_tests(code);
        assert_eq!(kept.lines().count(), code.lines().count());
        assert!(kept.contains("fn a") && kept.contains("fn c") && kept.contains("fn d"));
        assert!(!kept.contains("fn b") && !kept.contains("more"));
    }

    #[test]
    fn words_stand_by_themselves() {
        assert!(has_word("use a2a::Task", "a2a"));
        assert!(!has_word("use a2a_lf::Task", "a2a"));
    }
}
