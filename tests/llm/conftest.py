"""A real HTTP server on loopback that behaves as it is told, and a corpus to ask about."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

TEN = "\n".join(f"{i}. Disease number {i}" for i in range(1, 11))


class Server(ThreadingHTTPServer):
    """Chat completions as `behave` decides.

    `behave(handler, request, nth)` answers one request: the parsed body, and how many times this
    prompt has come, counted from 1. The default answers with ten names.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = lambda handler, request, nth: handler.complete()
        self.asked = Counter()
        self.answered = Counter()
        self.keys = []
        self.times = []
        self.lock = threading.Lock()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # a client that hung up, as several tests want it to


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        assert self.path == "/v1/chat/completions"
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.prompt = body["messages"][-1]["content"]
        with self.server.lock:
            self.server.asked[self.prompt] += 1
            nth = self.server.asked[self.prompt]
            self.server.keys.append(self.headers.get("Authorization"))
            self.server.times.append(time.monotonic())
        self.server.behave(self, body, nth)

    def answer(self, body, status=200, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        if status == 200:
            with self.server.lock:
                self.server.answered[self.prompt] += 1

    def complete(self, text=TEN, finish="stop", **message):
        """Answer with a chat completion."""
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, **message},
            "finish_reason": finish,
        }
        usage = {"prompt_tokens": 100, "completion_tokens": 50}
        self.answer({"choices": [choice], "usage": usage})

    def cut_off(self):
        """Promise more bytes than come."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices": [')
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
