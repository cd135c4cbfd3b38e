//! Values of the tree as serde reads them.
//!
//! Each method with a type parameter is compiled for each type that is read: its body is short, and calls only methods
//! of the visitor that can succeed.

use std::collections::btree_map::Iter;

use serde::de::{self, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::Error;
use crate::path::Part;
use crate::tree::{Entry, Node, Value};

impl Node {
    /// The error that this value is not `wanted`.
    fn is_not(&self, wanted: &dyn de::Expected) -> Error {
        let found = match &self.value {
            Value::Text(text) => Unexpected::Str(text),
            Value::Integer(i) => u64::try_from(*i).map_or(Unexpected::Signed(*i), Unexpected::Unsigned),
            Value::Float(x) => Unexpected::Float(*x),
            Value::Bool(b) => Unexpected::Bool(*b),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, wanted)
    }

    fn items(&self, wanted: &dyn de::Expected) -> Result<Items<'_>, Error> {
        match &self.value {
            Value::Array(items) => Ok(Items { items, next: 0 }),
            _ => Err(self.is_not(wanted)),
        }
    }

    fn entries(&self, wanted: &dyn de::Expected) -> Result<Entries<'_>, Error> {
        match &self.value {
            Value::Table(table) => Ok(Entries { rest: table.iter(), value: None }),
            _ => Err(self.is_not(wanted)),
        }
    }

    /// The name of a variant, and why it is refused all the same: no variant has a value, as the first key of a table has.
    fn variant(&self, wanted: &dyn de::Expected) -> Result<(&str, Option<Error>), Error> {
        match &self.value {
            Value::Text(text) => Ok((text, None)),
            Value::Table(table) => {
                let (key, entry) = table.first_key_value().ok_or_else(|| self.is_not(&"enum"))?;
                Ok((key, Some(entry.node.is_not(&"unit").below_key(key))))
            }
            _ => Err(self.is_not(wanted)),
        }
    }
}

impl<'de> de::Deserializer<'de> for &Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(i) => match u64::try_from(*i) {
                Ok(positive) => visitor.visit_u64(positive),
                Err(_) => visitor.visit_i64(*i),
            },
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Table(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut items = self.items(&visitor)?;
        let value = visitor.visit_seq(&mut items)?;
        items.end()?;
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let entries = self.entries(&visitor)?;
        visitor.visit_map(entries)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (variant, refused) = self.variant(&visitor)?;
        let value = visitor.visit_enum(variant.into_deserializer())?;
        match refused {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct tuple_struct identifier
    }
}

/// Iterator over the entries of a table.
struct Entries<'a> {
    rest: Iter<'a, String, Entry>,
    value: Option<(&'a str, &'a Node)>,
}

impl<'a> Entries<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.value = self.rest.next().map(|(key, entry)| (key.as_str(), &entry.node));
        self.value.map(|(key, _)| key)
    }

    fn value(&self) -> Result<(&'a str, &'a Node), Error> {
        self.value.ok_or_else(|| de::Error::custom("a value without its key"))
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(key) = self.next() else { return Ok(None) };
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (key, node) = self.value()?;
        match seed.deserialize(node) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.below_key(key)),
        }
    }
}

/// Iterator over the items of an array.
struct Items<'a> {
    items: &'a [Node],
    next: usize,
}

impl<'a> Items<'a> {
    fn next(&mut self) -> Option<&'a Node> {
        let node = self.items.get(self.next)?;
        self.next += 1;
        Some(node)
    }

    /// The error is in the last item.
    fn below(&self, error: Error) -> Error {
        error.below(Part::Index(self.next - 1))
    }

    /// An array type of two elements would ignore a third.
    fn end(&self) -> Result<(), Error> {
        let (used, all) = (self.next, self.items.len());
        if used < all { Err(de::Error::invalid_length(all, &&*format!("{used} items"))) } else { Ok(()) }
    }
}

impl<'de> de::SeqAccess<'de> for &mut Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.next() else { return Ok(None) };
        match seed.deserialize(node) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.below(error)),
        }
    }
}
