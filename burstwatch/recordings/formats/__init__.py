"""One file per program that writes recordings: each reads its text or document as series, with the file's own cells.

A file that reads JSON is found by being here. It has ``PROGRAMS``, how people call what writes it, and
``read_document(document)``: None for a document of another program, and ValueError for its own that is wrong.
``prometheus.py`` is an example. A document that is rows with times needs no file: ``records.py`` reads all of them, as
``table.py`` reads all tables of text. ``raw.py`` reads the times and numbers of all in one way. Whether a missing time
means that there was no I/O (``gaps_are_silence``) is a fact about the program: where it also leaves out what could not
be measured, it does not.
"""
