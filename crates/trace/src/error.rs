//! Errors of reading a capture.

use std::io;

/// Offsets count bytes of the file, for compressed files of the decompressed content.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// An I/O error of the system.
    #[error("{0}")]
    Io(io::Error),
    /// The input is not a capture.
    #[error("byte {offset}: {what}")]
    Format {
        /// Byte offset.
        offset: u64,
        /// Description of the content.
        what: String,
    },
    /// The file ends inside a record.
    #[error("byte {offset}: the file is cut off inside {what}; {packets} packets were read up to there")]
    Cut {
        /// Byte offset of the record.
        offset: u64,
        /// Number of packets read before it.
        packets: u64,
        /// The truncated element.
        what: String,
    },
    /// A record has impossible contents.
    #[error("byte {offset}: the file is damaged: {what}; {packets} packets were read up to there")]
    Corrupt {
        /// Byte offset of the record.
        offset: u64,
        /// Number of packets read before it.
        packets: u64,
        /// Description of the damage.
        what: String,
    },
    /// The connections exceed the memory limit.
    #[error(
        "the {connections} connections of the first {packets} packets take more than the {megabytes} MB that they may: the \
         rest was not read; choose packets with --filter, or allow more with --memory"
    )]
    Full {
        /// Number of packets read.
        packets: u64,
        /// Number of connections in them.
        connections: usize,
        /// Memory limit in megabytes.
        megabytes: u64,
    },
    /// An invalid filter expression.
    #[error("filter: {0}")]
    Filter(String),
    /// An invalid list of tunnels.
    #[error("decapsulate: {0}")]
    Decapsulate(String),
}
