"""The window laws, one file each."""
