"""The ECN feedback schemes, one file each."""
