"""Serve the built site on this machine only, and open it in the browser. Stop with Ctrl-C."""

import argparse
import functools
import sys
import webbrowser
from pathlib import Path

from tools.browser import Quiet, Server

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description="Serve the built site on 127.0.0.1 and open it.")
    parser.add_argument("--port", type=int, default=8000, help="default: 8000, or any free one if it is taken")
    parser.add_argument("--no-open", action="store_true", help="do not open the browser")
    options = parser.parse_args()
    site = ROOT / "_build" / "html"
    if not (site / "index.html").is_file():
        sys.exit("serve: there is no site; run: make book")
    handler = functools.partial(Quiet, directory=str(site))
    try:
        server = Server(("127.0.0.1", options.port), handler)
    except OSError:
        server = Server(("127.0.0.1", 0), handler)
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"serve: {address} (stop with Ctrl-C)", flush=True)
    if not options.no_open:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
