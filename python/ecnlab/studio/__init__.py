"""The studio: the laboratory in a browser, served on loopback from the files that `make studio` has built."""
