//! Laws that stand in a file of the user's own: the scenario names them, and whoever runs it supplies them.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A law by the file and the class that it stands in. `S` makes its objects.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(rename = "UserLaw", bound = "")]
pub struct UserLaw<S: ?Sized> {
    /// A file and a class in it, `"FILE.py:CLASS"`. A relative path begins at the folder of the scenario.
    pub python: String,
    /// SHA-256 of the file, in hexadecimal. It is filled in where the file is read; where it is given, another file is
    /// refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    #[serde(skip)]
    law: Option<Arc<S>>,
}

impl<S: ?Sized> UserLaw<S> {
    /// The law `FILE.py:CLASS`, not yet supplied.
    pub fn named(python: &str) -> UserLaw<S> {
        UserLaw { python: python.to_owned(), sha256: None, law: None }
    }

    /// The file and the class, if both are named.
    pub fn file_and_class(&self) -> Option<(&str, &str)> {
        let (file, class) = self.python.rsplit_once(':')?;
        let is_name = !class.is_empty() && class.chars().all(|c| c.is_alphanumeric() || c == '_');
        (file.ends_with(".py") && is_name && !class.starts_with(|c: char| c.is_numeric())).then_some((file, class))
    }

    /// Refuses what names no file and class: what is wrong, and what would do.
    pub fn check(&self) -> Result<(), String> {
        let named = self.file_and_class().map(drop);
        named.ok_or_else(|| {
            format!("\"{}\" names no class in a file: write such as \"mylaw.py:MyLaw\"", self.python.escape_debug())
        })
    }

    /// Takes `law`, which stands in a file with the digest `sha256`. Refuses it if the scenario has another digest.
    pub fn supply(&mut self, law: Arc<S>, sha256: String) -> Result<(), String> {
        if let Some(expected) = self.sha256.as_ref().filter(|expected| **expected != sha256) {
            return Err(format!(
                "the file has changed: its SHA-256 is {sha256}, not {expected}; bring the file back, or leave out `sha256`"
            ));
        }
        self.sha256 = Some(sha256);
        self.law = Some(law);
        Ok(())
    }

    /// Makes objects of the law, if it was supplied.
    pub fn law(&self) -> Option<&Arc<S>> {
        self.law.as_ref()
    }
}

impl<S: ?Sized> Clone for UserLaw<S> {
    fn clone(&self) -> UserLaw<S> {
        UserLaw { python: self.python.clone(), sha256: self.sha256.clone(), law: self.law.clone() }
    }
}

/// Its entry in a scenario.
impl<S: ?Sized> PartialEq for UserLaw<S> {
    fn eq(&self, other: &UserLaw<S>) -> bool {
        (&self.python, &self.sha256) == (&other.python, &other.sha256)
    }
}

impl<S: ?Sized> fmt::Debug for UserLaw<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let supplied = self.law.is_some();
        f.debug_struct("UserLaw")
            .field("python", &self.python)
            .field("sha256", &self.sha256)
            .field("law", &supplied)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_and_a_class() {
        let parts =
            |text: &str| UserLaw::<str>::named(text).file_and_class().map(|(f, c)| (f.to_owned(), c.to_owned()));
        assert_eq!(parts("a/b.py:My_Law2"), Some(("a/b.py".to_owned(), "My_Law2".to_owned())));
        assert_eq!(parts("C:/b.py:L"), Some(("C:/b.py".to_owned(), "L".to_owned())));
        for wrong in ["b.py", "b.py:", ":L", "b:L", "b.py:2L", "b.py:a.b", "b.py:a b", ""] {
            assert_eq!(parts(wrong), None, "{wrong}");
            assert!(UserLaw::<str>::named(wrong).check().is_err(), "{wrong}");
        }
        assert_eq!(UserLaw::<str>::named("b.py:L").check(), Ok(()));
    }

    #[test]
    fn a_file_with_another_digest_is_refused() {
        let mut law = UserLaw::<str>::named("b.py:L");
        assert_eq!((law.supply("x".into(), "12".to_owned()), law.sha256.as_deref()), (Ok(()), Some("12")));
        assert!(law.supply("y".into(), "34".to_owned()).unwrap_err().contains("has changed"));
        assert_eq!((law.law().map(|x| &**x), law.sha256.as_deref()), (Some("x"), Some("12")));
    }
}
