//! The modules of a crate, read from its sources: what each declares, imports and names.
//!
//! Macros are not expanded; paths in the bodies of `macro_rules!` are read as they stand. Modules and imports of tests are
//! passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::str::Chars;

/// A path of names: `crate::red::Curve`.
pub type Names = Vec<String>;

/// A module, in a file of its own or within one.
#[derive(Debug, Default)]
pub struct Module {
    /// Its file, from `src` on.
    pub file: PathBuf,
    /// The module that it is in, by its index.
    pub parent: usize,
    /// The modules within, by their indices.
    pub children: BTreeMap<String, usize>,
    /// The names that it imports.
    pub imports: Vec<Import>,
    /// Paths in its code, as far as they begin in this crate.
    pub paths: Vec<Names>,
    /// All names in its code but for imports.
    pub words: BTreeSet<String>,
}

/// A name that a module imports.
#[derive(Clone, Debug)]
pub struct Import {
    /// What the module calls it; `*` for all that there are.
    pub name: String,
    /// Where it is.
    pub path: Names,
    /// Whether other modules may import it from here.
    pub is_public: bool,
}

/// The modules of the crate whose root is the file `root`. `read` has the text of a file.
pub fn modules(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<Module> {
    let mut all = vec![Module { file: root.to_owned(), ..Module::default() }];
    fill(0, &tokens(&read(root).unwrap_or_default()), read, &mut all);
    all
}

/// Where the file of the module `name` may be, within the module of `file`, at the path `inline` of modules in that file.
fn files_of(name: &str, file: &Path) -> [PathBuf; 2] {
    let stem = file.file_stem().unwrap_or_default();
    let folder = file.parent().unwrap_or(Path::new(""));
    let folder =
        if ["lib", "main", "mod"].iter().any(|root| stem == *root) { folder.to_owned() } else { folder.join(stem) };
    [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]
}

fn fill(module: usize, tokens: &[String], read: &dyn Fn(&Path) -> Option<String>, all: &mut Vec<Module>) {
    let mut i = 0;
    let mut is_public = false;
    while i < tokens.len() {
        match tokens[i].as_str() {
            "#" if tokens[i + 1..].starts_with(&["[", "cfg", "(", "test", ")", "]"].map(str::to_owned)) => {
                i = end_of_item(tokens, i + 7);
            }
            "use" => {
                let end = i + tokens[i..].iter().position(|token| token == ";").unwrap_or(tokens.len() - i);
                imports(&tokens[i + 1..end], &mut Vec::new(), is_public, &mut all[module].imports);
                i = end;
            }
            "mod" if tokens.get(i + 2).is_some_and(|token| token == ";") => {
                let name = &tokens[i + 1];
                let found = files_of(name, &all[module].file).into_iter().find_map(|file| Some((read(&file)?, file)));
                if let Some((text, file)) = found {
                    let child = add(module, name, file, all);
                    fill(child, &self::tokens(&text), read, all);
                }
                i += 2;
            }
            "mod" if tokens.get(i + 2).is_some_and(|token| token == "{") => {
                let end = end_of_item(tokens, i);
                let child = add(module, &tokens[i + 1], all[module].file.clone(), all);
                fill(child, &tokens[i + 3..end], read, all);
                i = end;
            }
            token
                if is_name(token)
                    && i.checked_sub(1).is_none_or(|before| !["::", "$", "."].contains(&tokens[before].as_str())) =>
            {
                let path = path_at(tokens, i);
                i += 2 * (path.len() - 1);
                all[module].words.extend(path.iter().cloned());
                all[module].paths.push(path);
            }
            _ => {}
        }
        // `pub`, and `pub(crate)`.
        is_public = match tokens.get(i).map(String::as_str) {
            Some("pub") => true,
            Some("(" | ")" | "crate" | "super" | "in") => is_public,
            _ => false,
        };
        i += 1;
    }
}

fn add(parent: usize, name: &str, file: PathBuf, all: &mut Vec<Module>) -> usize {
    let child = all.len();
    all.push(Module { file, parent, ..Module::default() });
    all[parent].children.insert(name.to_owned(), child);
    child
}

/// The place of the last token of the item that begins at `i`: a semicolon or a closing brace.
fn end_of_item(tokens: &[String], i: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(i) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (token == ";" || token == "}") {
            return at;
        }
    }
    tokens.len()
}

/// The names that `tree` imports, of which `before` has the beginning.
fn imports(tree: &[String], before: &mut Names, is_public: bool, found: &mut Vec<Import>) {
    let depth = before.len();
    let mut name = None;
    let mut i = 0;
    while i < tree.len() {
        match tree[i].as_str() {
            "{" => {
                let end = end_of_item(tree, i);
                imports(&tree[i + 1..end], before, is_public, found);
                name = None;
                i = end;
            }
            "as" => {
                i += 1;
                name = Some(tree[i].clone());
            }
            "," => {
                finish(name.take(), before, is_public, found);
                before.truncate(depth);
            }
            "self" if depth > 0 => name = before.last().cloned(),
            "*" => name = Some("*".to_owned()),
            token if is_name(token) => {
                before.push(token.to_owned());
                name = Some(token.to_owned());
            }
            _ => {}
        }
        i += 1;
    }
    finish(name, before, is_public, found);
    before.truncate(depth);
}

fn finish(name: Option<String>, path: &Names, is_public: bool, found: &mut Vec<Import>) {
    found.extend(name.map(|name| Import { name, path: path.clone(), is_public }));
}

/// The path of names that begins at `i`.
fn path_at(tokens: &[String], mut i: usize) -> Names {
    let mut path = vec![tokens[i].clone()];
    while tokens.get(i + 1).is_some_and(|token| token == "::") && tokens.get(i + 2).is_some_and(|token| is_name(token))
    {
        i += 2;
        path.push(tokens[i].clone());
    }
    path
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single characters of a text, without comments, literals, lifetimes and the names of variants.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = all_tokens(text);
    let enums: Vec<usize> = (0..tokens.len()).filter(|&i| tokens[i] == "enum").collect();
    for begin in enums {
        let end = end_of_item(&tokens, begin);
        let mut depth = 0;
        for i in begin..end {
            match tokens[i].as_str() {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                name if depth == 1 && is_name(name) && matches!(tokens[i - 1].as_str(), "{" | "," | "]") => {
                    tokens[i] = String::new();
                }
                _ => {}
            }
        }
    }
    tokens
}

fn all_tokens(text: &str) -> Vec<String> {
    let mut chars = text.chars().peekable();
    let mut found = Vec::new();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        match c {
            '/' if next == '/' => while chars.next_if(|&c| c != '\n').is_some() {},
            '/' if next == '*' => skip_comment(&mut chars),
            '"' => skip_string(&mut chars),
            '\'' => skip_quote(&mut chars),
            ':' if next == ':' => {
                chars.next();
                found.push("::".to_owned());
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|&c| c.is_alphanumeric() || c == '_') {
                    word.push(c);
                }
                if matches!(word.as_str(), "r" | "br") && matches!(chars.peek(), Some('"' | '#')) {
                    skip_raw(&mut chars);
                } else {
                    found.push(word);
                }
            }
            c if c.is_whitespace() => {}
            c => found.push(c.to_string()),
        }
    }
    found
}

fn skip_comment(chars: &mut Peekable<Chars<'_>>) {
    let (mut depth, mut before) = (0, '/');
    for c in chars.by_ref() {
        match (before, c) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
        before = c;
    }
}

fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next() {
        match c {
            '"' => return,
            '\\' => drop(chars.next()),
            _ => {}
        }
    }
}

/// A raw string from its `#` or quote on.
fn skip_raw(chars: &mut Peekable<Chars<'_>>) {
    let mut hashes = 0;
    while chars.next_if_eq(&'#').is_some() {
        hashes += 1;
    }
    // `r#type` is a name.
    if chars.next_if_eq(&'"').is_none() {
        return;
    }
    while let Some(c) = chars.next() {
        if c == '"' && (0..hashes).all(|_| chars.next_if_eq(&'#').is_some()) {
            return;
        }
    }
}

/// A character in quotes, or a lifetime.
fn skip_quote(chars: &mut Peekable<Chars<'_>>) {
    let Some(first) = chars.next() else { return };
    if first == '\\' {
        chars.next();
        while chars.next().is_some_and(|c| c != '\'') {}
    } else if chars.next_if_eq(&'\'').is_none() {
        while chars.next_if(|&c| c.is_alphanumeric() || c == '_').is_some() {}
    }
}
