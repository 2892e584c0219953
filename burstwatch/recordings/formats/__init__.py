"""One file per program that writes recordings: each reads its text or document as series."""
