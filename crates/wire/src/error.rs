//! Errors of parsing headers.

/// An error in a header. Offsets count from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the header does.
    #[error("the {header} header needs {needed} bytes, but there are {there}")]
    Short {
        /// Name of the header.
        header: &'static str,
        /// Bytes required.
        needed: usize,
        /// Bytes available.
        there: usize,
    },
    /// A field has an invalid value.
    #[error("the {header} header has an invalid {field}, {value}")]
    Field {
        /// Name of the header.
        header: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}

/// Splits off the first `N` bytes.
#[inline]
pub(crate) fn split<'a, const N: usize>(
    bytes: &'a [u8],
    header: &'static str,
) -> Result<(&'a [u8; N], &'a [u8]), WireError> {
    bytes.split_first_chunk::<N>().ok_or(WireError::Short { header, needed: N, there: bytes.len() })
}

/// Returns the first `needed` bytes.
#[inline]
pub(crate) fn take<'a>(bytes: &'a [u8], needed: usize, header: &'static str) -> Result<&'a [u8], WireError> {
    bytes.get(..needed).ok_or(WireError::Short { header, needed, there: bytes.len() })
}
