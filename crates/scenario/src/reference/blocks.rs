//! Sections of pages written by `make schema`: between the line `<!-- generated: NAME -->` and the line `<!-- end -->`.

use crate::registry::{Law, laws};

use super::{head, keys, sections};

/// A generated section of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Path of the page from the root of the repository.
    pub page: &'static str,
    /// The name in its first marker.
    pub name: String,
    /// Text between the markers: complete lines.
    pub text: String,
}

const END: &str = "<!-- end -->\n";

impl Block {
    /// Returns the line before it.
    pub fn marker(&self) -> String {
        format!("<!-- generated: {} -->\n", self.name)
    }
    /// Returns `page` with this block's text between its markers; `None` unless the page has the markers exactly once.
    pub fn put(&self, page: &str) -> Option<String> {
        let marker = self.marker();
        let (before, rest) = page.split_once(&marker)?;
        let (old, after) = rest.split_once(END)?;
        let alone = !old.contains("<!-- generated: ") && !after.contains(&marker);
        alone.then(|| format!("{before}{marker}{}{END}{after}", self.text))
    }
}

/// Returns all generated sections of otherwise hand-written pages.
pub fn blocks() -> Vec<Block> {
    law_blocks().into_iter().chain(sections::blocks()).collect()
}

/// Returns the head of each law's page and the tables of its keys, if any. Laws of two families can share a page.
fn law_blocks() -> Vec<Block> {
    let all = laws();
    let mut blocks: Vec<Block> = Vec::new();
    for (page, _) in all.iter().filter_map(|law| Some((law.files?.1, law))) {
        if blocks.iter().any(|block| block.page == page) {
            continue;
        }
        let of_page: Vec<&Law> = all.iter().filter(|law| law.files.is_some_and(|(_, its)| its == page)).collect();
        blocks.push(Block { page, name: "head".to_owned(), text: head::of(&of_page) });
        let text = keys::of_laws(&of_page);
        if !text.is_empty() {
            blocks.push(Block { page, name: "keys".to_owned(), text });
        }
    }
    blocks
}
