"""Receives the verdicts of a validation server, as an example.

    webhook_receiver.py KEY_FILE OUTPUT

Prints its port, and appends the body of each signed POST to OUTPUT.
"""

import hashlib
import hmac
import http.server
import pathlib
import sys

KEY = pathlib.Path(sys.argv[1]).read_bytes().rstrip()


# region receive
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = "sha256=" + hmac.new(KEY, body, hashlib.sha256).hexdigest()
        given = self.headers["X-Footprint-Signature"] or ""
        is_signed = hmac.compare_digest(signature, given)
        if is_signed:
            with open(sys.argv[2], "ab") as verdicts:
                verdicts.write(body)
        self.send_response(204 if is_signed else 401)
        self.end_headers()
# endregion


SERVER = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(SERVER.server_port, flush=True)
SERVER.serve_forever()
