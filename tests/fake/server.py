"""The fake on a loopback port, for any AWS SDK with ``AWS_ENDPOINT_URL``."""

import gzip
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fake.aws import FakeAws
from tests.fake.wire import SIGNING_NAMES, Wire, WireError, error_xml

SCOPE = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/")


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, aws: FakeAws) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.aws = aws
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


#: No call stalls longer than that, whatever a test forgets.
STALLS_S = 60.0


class _Handler(BaseHTTPRequestHandler):
    server: FakeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":  # botocore packs large PutMetricData
            body = gzip.decompress(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        scope = SCOPE.search(headers.get("authorization", ""))
        if scope is None:
            self._reply(403, "text/xml", error_xml("", WireError("MissingAuthenticationToken", "")))
            return
        region, service = scope[2], SIGNING_NAMES.get(scope[3], scope[3])
        try:
            wire = Wire(service, headers, body, method=self.command, url=self.path)
        except WireError as error:
            self._reply(error.status, "text/xml", error_xml(service, error))
            return
        try:
            with self.server.lock:
                self.server.aws.caller = scope[1]
                result = self.server.aws.call(service, wire.operation.name, wire.params, region)
            if name_of_function := result.pop("Runs", None):
                # Outside the lock: what runs calls AWS itself.
                result["Payload"] = self.server.aws.run(name_of_function, wire.params["Payload"])
            name = wire.operation.name
            kind, answer = wire.answer({} if name in self.server.aws.hollow else result)
            if stalled := self.server.aws.stalled.pop(name, None):
                stalled.wait(STALLS_S)
            is_cut = self.server.aws.cut.get(name, 0) > 0
            if is_cut:
                self.server.aws.cut[name] -= 1
            self._reply(200, kind, answer, is_cut=is_cut)
        except WireError as error:
            kind, answer = wire.error(error)
            self._reply(error.status, kind, answer)

    def _reply(self, status: int, kind: str, body: bytes, *, is_cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body[: len(body) // 2] if is_cut else body)
        except OSError:  # who asked has given up
            is_cut = True
        self.close_connection = self.close_connection or is_cut

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The time of the answer is that of the account."""
        return super().date_time_string(timestamp or self.server.aws.clock())

    do_GET = do_DELETE = do_POST  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None: ...
