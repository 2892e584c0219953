"""Tries the whole path of a page, from the function to the topic."""
