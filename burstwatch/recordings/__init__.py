"""Reads the recordings that people have: files of other programs, and our own.

``formats`` has one file per program that writes such files. Each yields series by their names;
``matching`` finds the metrics of a kind among them, and ``grid`` puts them on one even grid.
"""
