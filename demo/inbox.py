"""Receives the messages: a queue and an HTTP endpoint, subscribed as anybody would."""

import contextlib
import json
import threading
import time
import urllib.request
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Message:
    """One delivery, raw."""

    at: float
    through: str
    body: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The SNS envelope."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    @property
    def alarm(self) -> dict[str, Any] | None:
        """CloudWatch's alarm message inside, if it is one."""
        with contextlib.suppress(ValueError, KeyError):
            inner = json.loads(self.envelope["Message"])
            if "AlarmName" in inner and "NewStateValue" in inner:
                return dict(inner)
        return None


class HttpSink(ThreadingHTTPServer):
    """Confirms its own subscription and keeps what comes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.messages: list[Message] = []
        self.confirmed = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: HttpSink

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if self.headers.get("x-amz-sns-message-type") == "SubscriptionConfirmation":
            with urllib.request.urlopen(json.loads(body)["SubscribeURL"], timeout=10):  # noqa: S310 - the local cloud's own URL
                self.server.confirmed.set()
        else:
            self.server.messages.append(Message(at=time.time(), through="http", body=body))

    def log_message(self, *_: object) -> None:
        """Nothing: the demo's terminal is for the demo."""


class Inbox:
    """Subscribers of topics, and everything that they have received."""

    def __init__(self, sns: Any, sqs: Any, *, endpoint: str) -> None:  # noqa: ANN401 - boto3
        self._sns, self._sqs, self._endpoint = sns, sqs, endpoint
        self._queues: dict[str, str] = {}
        self._received: list[Message] = []
        self._http = HttpSink()

    def subscribe(self, name: str, topic_arn: str, *, http: bool) -> None:
        """Subscribe a queue, and the HTTP sink too if asked."""
        made = self._sqs.create_queue(QueueName=f"inbox-{name}")
        # The URL that comes back has a host name; an address needs no DNS.
        url = f"{self._endpoint}/{'/'.join(made['QueueUrl'].split('/')[-2:])}"
        arn = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        self._sns.subscribe(
            TopicArn=topic_arn, Protocol="sqs", Endpoint=arn["Attributes"]["QueueArn"]
        )
        self._queues[name] = url
        if http:
            self._sns.subscribe(TopicArn=topic_arn, Protocol="http", Endpoint=self._http.url)

    def collect(self) -> list[Message]:
        """Everything received so far, in order of arrival."""
        for name, url in self._queues.items():
            while True:
                reply = self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
                batch = reply.get("Messages", [])
                for message in batch:
                    self._received.append(
                        Message(at=time.time(), through=f"sqs:{name}", body=message["Body"])
                    )
                    self._sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                if not batch:
                    break
        return sorted([*self._received, *self._http.messages], key=lambda message: message.at)

    def close(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()
