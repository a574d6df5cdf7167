"""Read the book from this folder by way of a server of your own: python start.py

Opening index.html by a double click does the same without it; over a server a cell that is stopped keeps its variables.
Only this machine can reach the server, and nothing but this folder is served. Stop it with Ctrl-C.
"""

import functools
import sys
import webbrowser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT = 8765  # always the same, so that the browser finds what it has kept


class Handler(SimpleHTTPRequestHandler):
    # Named here, because a machine may know other types, and a browser runs no script of a wrong one.
    extensions_map = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".css": "text/css",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
    }

    def log_message(self, *arguments):
        """Say nothing for each file."""


def main():
    folder = Path(__file__).resolve().parent
    handler = functools.partial(Handler, directory=str(folder))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", PORT), handler)
    except OSError:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"The book is at {address} (stop with Ctrl-C)", flush=True)
    if "--no-open" not in sys.argv:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
