"""Tries a Python environment that ships as a container image.

The image has the files of this host's Python and a virtual environment with a package, in two layers
that Python's tarfile writes. Skips, with the reason, where the sandbox is missing, unless
FOOTPRINT_SANDBOX_REQUIRED is set.
"""

import hashlib
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

_PROGRAMS = pathlib.Path("gates/programs").absolute()
_STATIC_PROGRAM = pathlib.Path("gates/sandbox/sandbox_static_program").absolute()
_MIB = 1 << 20
_HELD_BYTES = 48 * _MIB
_ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
_VERSION = "python%d.%d" % sys.version_info[:2]
_PACKAGE = """import os
import sys


def hold(size):
    return [bytes(_MIB * b"x") for _ in range(size // _MIB)]


def main():
    assert sys.prefix == "/opt/venv", sys.prefix
    assert not os.path.exists("/usr/bin/bash"), "the host's files are here"
    assert not os.path.exists("/opt/venv/removed"), "a whiteout had no effect"
    assert os.getcwd() == "/srv/data", os.getcwd()
    assert os.environ["MODEL"] == "small", os.environ
    assert {"full", "null", "shm", "zero"} <= set(os.listdir("/dev")), os.listdir("/dev")
    for folder in ("/", "/srv/data", "/opt/venv", "/dev"):
        try:
            open(os.path.join(folder, "written"), "w")
        except OSError:
            continue
        sys.exit("%s can be written" % folder)
    open("/tmp/written", "w").close()
    held = hold(int(sys.argv[1]))
    print("held", len(held))


_MIB = 1 << 20
"""


class Layer:
    """A layer as a tar archive; `bytes` is what is stored, and `diff_id` the hash of what it unpacks to."""

    def __init__(self):
        self._buffer = io.BytesIO()
        self._archive = tarfile.open(fileobj=self._buffer, mode="w", format=tarfile.PAX_FORMAT)

    def add(self, name, data=b"", mode=0o644, kind=tarfile.REGTYPE, target=""):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.type, entry.linkname = len(data), mode, kind, target
        self._archive.addfile(entry, io.BytesIO(data))

    def add_file_of_host(self, path):
        path = pathlib.Path(path)
        self.add(str(path), path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def finish(self):
        self._archive.close()
        return self._buffer.getvalue()


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


def _write_image(folder, layers, settings, change=lambda blob: blob):
    """Writes an image layout of the layers, which are archives."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def add(data, media_type):
        (blobs / _sha256(data)).write_bytes(change(data))
        return {"mediaType": media_type, "digest": "sha256:" + _sha256(data), "size": len(data)}

    config = {"os": "linux", "architecture": _ARCHITECTURE, "config": settings,
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + _sha256(each) for each in layers]}}
    manifest = {
        "schemaVersion": 2,
        "config": add(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"),
        "layers": [add(each, "application/vnd.oci.image.layer.v1.tar") for each in layers],
    }
    descriptor = add(json.dumps(manifest).encode(), "application/vnd.oci.image.manifest.v1+json")
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [descriptor]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return descriptor["digest"]


def _libraries(program):
    """Returns the shared objects of a program, as the loader finds them."""
    text = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"(/\S+) \(0x", text)


def _python_layers():
    """Returns the layers of an environment: the host's Python, and a virtual environment."""
    system = Layer()
    interpreter = os.path.realpath("/usr/bin/" + _VERSION)
    system.add_file_of_host(interpreter)
    for library in _libraries(interpreter):
        system.add_file_of_host(library)
    for path in sorted(pathlib.Path("/usr/lib/" + _VERSION).rglob("*")):
        if path.suffix in (".py", ".so") and path.is_file() and "test" not in path.parts:
            system.add_file_of_host(path)
    system.add("opt/venv/removed", b"of the lower layer")
    environment = Layer()
    environment.add("opt/venv/pyvenv.cfg", b"home = /usr/bin\ninclude-system-site-packages = false\n")
    environment.add("opt/venv/bin/python", kind=tarfile.SYMTYPE, target=interpreter)
    environment.add("opt/venv/.wh.removed")
    environment.add("opt/venv/lib/%s/site-packages/model.py" % _VERSION, _PACKAGE.encode())
    return [system.finish(), environment.finish()]


class ImageTrialTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        host = subprocess.run([_PROGRAMS / "try_main", "--host"], stdout=subprocess.PIPE, text=True)
        if host.returncode != 0:
            if os.environ.get("FOOTPRINT_SANDBOX_REQUIRED"):
                raise AssertionError(host.stdout)
            raise unittest.SkipTest("NOT TESTED: " + host.stdout)
        cls._temporary = tempfile.TemporaryDirectory(dir="/var/tmp")
        cls.folder = pathlib.Path(cls._temporary.name)
        cls.layers = _python_layers()
        cls.settings = {
            "Entrypoint": ["/opt/venv/bin/python", "-c", "import model; model.main()"],
            "Cmd": [str(_HELD_BYTES)],
            "Env": ["PATH=/opt/venv/bin", "MODEL=small"],
            "WorkingDir": "/srv/data",
            "Labels": {"org.footprint.bundle": "schema_version: 1 label: '//team/model:venv'"},
        }
        cls.image = cls.folder / "image"
        cls.digest = _write_image(cls.image, cls.layers, cls.settings)

    @classmethod
    def tearDownClass(cls):
        cls._temporary.cleanup()

    def attempt(self, *arguments):
        """Returns the exit status of `try`, and what it says, with its lines joined."""
        done = subprocess.run(
            [_PROGRAMS / "try_main", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, TMPDIR=str(self.folder)))
        print(done.stdout, done.stderr)
        return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)

    def measured_bytes(self, text):
        return int(re.search(r'"measured": "?(\d+)', text).group(1))

    def test_a_generous_budget_accepts(self):
        status, text = self.attempt(self.image, "--budget=400MiB")
        self.assertEqual(status, 0)
        self.assertIn("//team/model:venv", text)
        self.assertIn(self.digest, text)
        # The profiler works in the image, and finds the package's line.
        self.assertRegex(text, r"at hold\S* \(/opt/venv/lib/\S*/model\.py:6\)")

    def test_a_small_budget_rejects(self):
        status, text = self.attempt(self.image, "--budget=32MiB", "--unexplained")
        self.assertEqual(status, 1)
        self.assertIn("REJECT", text)

    def test_an_image_above_the_limit_is_refused_with_the_flag_that_raises_it(self):
        status, text = self.attempt(self.image, "--budget=400MiB", "--unexplained", "--most_bundle=100kB")
        self.assertEqual(status, 2)
        self.assertIn("100000 is the most (--most_bundle)", text)

    def test_the_figure_is_the_programs(self):
        peaks = {}
        for held in (8 * _MIB, _HELD_BYTES):
            image = self.folder / ("image%d" % held)
            settings = dict(self.settings, Cmd=[str(held)])
            _write_image(image, self.layers, settings)
            status, text = self.attempt(image, "--budget=400MiB", "--unexplained", "--format=json")
            self.assertEqual(status, 0)
            peaks[held] = self.measured_bytes(text)
        growth = peaks[_HELD_BYTES] - peaks[8 * _MIB]
        print("peaks:", peaks)
        self.assertGreater(growth, 36 * _MIB)
        self.assertLess(growth, 44 * _MIB)

    def test_an_archive_names_the_image(self):
        archives = []
        for name in (str(self.image), "%s@%s" % (self.image, self.digest)):
            archives.append(self.folder / ("made%d.tar" % len(archives)))
            subprocess.run([_PROGRAMS / "submit", name, "--make=%s" % archives[-1]], check=True)
        self.assertEqual(archives[0].read_bytes(), archives[1].read_bytes())
        status, text = self.attempt(archives[0], "--budget=400MiB", "--unexplained")
        self.assertEqual(status, 0)
        self.assertIn(self.digest, text)

    def test_a_static_program_is_judged_but_not_explained(self):
        layer = Layer()
        layer.add("run", _STATIC_PROGRAM.read_bytes(), 0o755)
        image = self.folder / "static"
        _write_image(image, [layer.finish()], {"Cmd": ["/run", "hold_malloc", str(16 * _MIB)]})
        status, text = self.attempt(image, "--budget=64MiB")
        self.assertEqual(status, 0)
        self.assertIn("the profiler could not be loaded", text)
        status, text = self.attempt(image, "--budget=8MiB")
        self.assertEqual(status, 1)

    def test_an_image_that_cannot_be_run_says_why(self):
        cases = {
            "cannot be executed": dict(self.settings, Entrypoint=["/missing"]),
            "names no program": {},
            "is no absolute path": dict(self.settings, WorkingDir="a"),
            "its folder": dict(self.settings, WorkingDir="/opt/venv/pyvenv.cfg"),
        }
        for number, (message, settings) in enumerate(cases.items()):
            image = self.folder / ("bad%d" % number)
            _write_image(image, self.layers[1:], settings)
            status, text = self.attempt(image, "--budget=64MiB")
            self.assertEqual(status, 2, message)
            self.assertIn(message, text)

    def test_a_server_judges_an_image(self):
        home = self.folder / "home"
        home.mkdir()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(self.folder)}
        serve = [_PROGRAMS / "serve"]
        subprocess.run(serve + ["token", "add", "team", "--owns=//team/..."], check=True, env=environment)
        other = subprocess.run(serve + ["token", "add", "other"], check=True, env=environment,
                               stdout=subprocess.PIPE, text=True).stdout
        other = re.search(r"fpt_\S+", other).group(0)
        log = open(self.folder / "log", "w+")
        server = subprocess.Popen(serve + ["--port=0", "--unexplained", "--budget=400MiB"], env=environment, stderr=log)
        try:
            port = self.port_of(server, log)

            def submit(token_of, name):
                given = dict(environment, FOOTPRINT_SERVER="http://127.0.0.1:%s" % port)
                if token_of == "other":
                    given["FOOTPRINT_TOKEN"] = other
                done = subprocess.run([_PROGRAMS / "submit", name], env=given, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
                print(done.stdout)
                return done.returncode, re.sub(r"\s+", " ", done.stdout)

            # The image's label belongs to another team.
            status, text = submit("other", self.image)
            self.assertEqual(status, 2)
            self.assertIn("team", text)
            unowned = self.folder / "unowned"
            _write_image(unowned, self.layers, dict(self.settings, Labels={}))
            status, text = submit("other", unowned)
            self.assertEqual(status, 0, text)
            self.assertIn("//image:python", text)
            # Another form of the image is the same submission.
            archive = self.folder / "unowned.tar.gz"
            with tarfile.open(archive, "w:gz") as packed:
                packed.add(unowned, ".")
            status, text = submit("other", archive)
            self.assertEqual(status, 0, text)
            self.assertIn("the verdict was there already", text)
        finally:
            server.terminate()
            server.wait()
            log.close()

    def port_of(self, server, log):
        """Waits until the server says its port."""
        while True:
            self.assertIsNone(server.poll(), pathlib.Path(log.name).read_text())
            found = re.search(r"http://127\.0\.0\.1:(\d+), store", pathlib.Path(log.name).read_text())
            if found:
                return found.group(1)
            time.sleep(0.05)

    def test_a_hostile_layer_is_refused(self):
        layer = Layer()
        layer.add("out", kind=tarfile.SYMTYPE, target=str(self.folder))
        layer.add("out/escaped", b"x")
        image = self.folder / "hostile"
        _write_image(image, [layer.finish()], self.settings)
        status, text = self.attempt(image, "--budget=64MiB")
        self.assertEqual(status, 2)
        self.assertIn("lies behind 'out'", text)
        self.assertFalse((self.folder / "escaped").exists())

    def test_a_changed_blob_is_refused(self):
        image = self.folder / "changed"
        changed = lambda blob: blob[:600] + b"~" + blob[601:] if len(blob) > _MIB else blob
        _write_image(image, self.layers, self.settings, changed)
        status, text = self.attempt(image, "--budget=64MiB")
        self.assertEqual(status, 2)
        self.assertIn("has the hash", text)


if __name__ == "__main__":
    unittest.main()
