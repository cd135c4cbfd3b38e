"""The rules by which slow start ends, one file each."""
