"""Result folders: the files, tables and digests in them, and their columns."""
