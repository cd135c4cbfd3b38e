"""The loss recovery schemes, one file each."""
