//! Why bytes are not the header they should be.

/// What is wrong with a header. Offsets count from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the header does.
    #[error("the {header} header needs {needed} bytes, {there} are there")]
    Short {
        /// Which header.
        header: &'static str,
        /// Bytes it needs.
        needed: usize,
        /// Bytes there are.
        there: usize,
    },
    /// A field has a value that the header cannot have.
    #[error("the {header} header says {field} {value}")]
    Field {
        /// Which header.
        header: &'static str,
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}

/// The first `N` bytes, and those behind them.
pub(crate) fn split<'a, const N: usize>(
    bytes: &'a [u8],
    header: &'static str,
) -> Result<(&'a [u8; N], &'a [u8]), WireError> {
    bytes.split_first_chunk::<N>().ok_or(WireError::Short { header, needed: N, there: bytes.len() })
}

/// The first `needed` bytes.
pub(crate) fn take<'a>(bytes: &'a [u8], needed: usize, header: &'static str) -> Result<&'a [u8], WireError> {
    bytes.get(..needed).ok_or(WireError::Short { header, needed, there: bytes.len() })
}
