"""A tab of Chromium for tests of pages, driven by its debugging pipe.

    browser = Browser(folder)
    browser.open("file:///tmp/page.html", width=400)
    browser.point("button", click=True)

Keys and clicks are the browser's own events. Needs Debian's package chromium.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess

_CODES = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
          "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34}


class Browser:
    """One tab of Chromium."""

    def __init__(self, folder):
        program = shutil.which("chromium")
        if program is None:
            raise RuntimeError("no chromium here: apt-get install chromium")
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()

        def take_pipes():  # Chromium reads descriptor 3 and writes 4
            os.dup2(commands, 103)
            os.dup2(answers, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={folder}/profile", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, env={**os.environ, "HOME": folder},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self._session, self._count, self._rest, self.events = None, 0, b"", []
        self._origin = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _message(self):
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("chromium ended")
            self._rest += part
        one, self._rest = self._rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") != self._count:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def open(self, url, width=1400, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self._origin = "/".join(url.split("/")[:3]) + "/"
        self.call("Page.navigate", url=url)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self._message())

    def faults(self):
        """Errors and logged messages, and requests to other places than the page's own."""
        return [e for e in self.events
                if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded",
                                   "Runtime.consoleAPICalled")
                or (e["method"] == "Network.requestWillBeSent"
                    and not e["params"]["request"]["url"].startswith(self._origin))]

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, *keys):
        for key in keys:
            code = _CODES.get(key, ord(key[0].upper()))
            parts = {"key": key, "windowsVirtualKeyCode": code}
            if key == "Enter" or len(key) == 1:
                parts["text"] = "\r" if key == "Enter" else key
            self.call("Input.dispatchKeyEvent", type="keyDown", **parts)
            parts.pop("text", None)
            self.call("Input.dispatchKeyEvent", type="keyUp", **parts)

    def tab_to(self, selector):
        for _ in range(40):
            self.press("Tab")
            if self.ask(f"document.activeElement.matches({json.dumps(selector)})"):
                return
        raise RuntimeError(f"Tab never reaches {selector}")

    def point(self, selector, click=False):
        box = self.ask(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{block: 'center'}});
            const box = found.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                      clickCount=1)

    def picture(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"],
                               "height": min(size["height"], 12000), "scale": 1})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.call("Browser.close")
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
