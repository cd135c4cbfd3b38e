"""The queue disciplines, one file each."""
