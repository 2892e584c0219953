"""The instance metadata service, as a web server."""

from http.server import BaseHTTPRequestHandler, HTTPServer

TOKEN = "AQAAtoken"


class Metadata(HTTPServer):
    """IMDSv2: a document for whoever brings the token that it gave."""

    document: bytes = b""
    refused = False
    asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Metadata

    def do_PUT(self) -> None:
        self.server.asked += 1
        ttl = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
        good = self.path == "/latest/api/token" and ttl is not None and not self.server.refused
        self.answer(200 if good else 403, TOKEN.encode())

    def do_GET(self) -> None:
        good = self.headers.get("X-aws-ec2-metadata-token") == TOKEN
        good = good and self.path == "/latest/dynamic/instance-identity/document"
        self.answer(200 if good else 401, self.server.document)

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
