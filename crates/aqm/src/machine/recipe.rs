//! A queue of several that is made at its first packet, so that only those in use take memory.

use std::sync::Arc;

use crate::contract::layout::Layout;
use crate::machine::books::Books;
use crate::machine::tree::Branch;
use crate::{Config, Item, LinkContext};

/// What it is made of.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub layout: Layout,
    pub config: Config,
    pub link: LinkContext,
    pub groups: Vec<String>,
}

impl Recipe {
    pub fn new(layout: Layout, config: &Config, link: LinkContext, groups: &[String]) -> Recipe {
        Recipe { layout, config: config.clone(), link, groups: groups.to_vec() }
    }
}

/// A queue of several. As long as no packet has come it need not be made: it is as it would be at time zero.
#[derive(Debug)]
pub(crate) enum Tree<P> {
    Made(Box<Branch<P>>),
    Unmade(Arc<Recipe>),
}

impl<P: Item> Tree<P> {
    /// The queue, if it is made.
    pub fn made(&self) -> Option<&Branch<P>> {
        match self {
            Tree::Made(branch) => Some(branch),
            Tree::Unmade(_) => None,
        }
    }

    /// As [`Tree::made`].
    pub fn made_mut(&mut self) -> Option<&mut Branch<P>> {
        match self {
            Tree::Made(branch) => Some(branch),
            Tree::Unmade(_) => None,
        }
    }

    /// The queue, which is made if it is not yet; what is drawn for it comes from `books`.
    pub fn make(&mut self, books: &mut Books) -> &mut Branch<P> {
        let made = match self {
            Tree::Made(branch) => return branch,
            Tree::Unmade(recipe) => Box::new(Branch::new(recipe, books)),
        };
        *self = Tree::Made(made);
        self.make(books)
    }
}
