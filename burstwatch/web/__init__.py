"""Serving: the web configuration, who may ask, what is answered, and the server."""
