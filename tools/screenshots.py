"""Take the pictures of pages that docs/ shows, with Chromium and selenium.

hypercondense report RESULT --out result.html
jupyter nbconvert --to html --execute tools/notebook.ipynb --output-dir .
python tools/screenshots.py result.html build/site/index.html notebook.html docs/pictures
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from selenium import webdriver

#: Name of a picture, which page, width and height, dark or not.
PICTURES = (
    ("report", 0, 1000, 1150, False),
    ("report-dark", 0, 1000, 1150, True),
    ("report-phone", 0, 390, 1000, False),
    ("site", 1, 1300, 1000, False),
    ("notebook", 2, 1000, 1130, False),
)


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder: a site has its search from a server only."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def main(report: str, site: str, notebook: str, folder: str) -> None:
    """Write all pictures as PNG."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    service = webdriver.ChromeService(shutil.which("chromedriver"))  # selenium asks the network without it
    driver = webdriver.Chrome(options=options, service=service)
    try:
        with served(Path(site).parent) as address:
            pages = (Path(report).resolve().as_uri(), f"{address}/", Path(notebook).resolve().as_uri())
            for name, page, width, height, dark in PICTURES:
                scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
                size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                driver.get(pages[page])
                driver.save_screenshot(str(Path(folder) / f"{name}.png"))
    finally:
        driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
