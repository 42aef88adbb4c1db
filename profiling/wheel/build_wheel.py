#!/usr/bin/env python3
"""Builds the wheel footprint_memory, without network and without any package.

    build_wheel.py --version=1.2.3 --memprof=FILE --stages=footprint.py --license=LICENSE \\
        --output=FOLDER

FILE is //profiling/memprof:portable_memprof. The wheel has it in the package
footprint_memory, with the files beside this script, and beside that the module
`footprint`. Programs may bring that module themselves, as a copy of footprint.py, so
the package has one of its own. The wheel's name says which machines it is for, by the
file's ELF header: pip refuses it on others. The same inputs give the same bytes.
Prints the wheel's path.

Exit 1, and nothing is written: FILE is not a program, is for a machine that memprof
does not know, or needs libraries that a bare Debian lacks.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

# e_machine of ELF, and how Python names the machine.
MACHINES = {62: "x86_64", 183: "aarch64"}
# Libraries of glibc, which each Debian has.
LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d+|ld-linux-.*")
PACKAGE = "footprint_memory/"
# Where the files of this folder go, in the package.
MODULES = {
    "__main__.py": "footprint_main.py",
    "memory_limits.py": "memory_limits.py",
    "peak_lines.py": "peak_lines.py",
    "pytest_plugin.py": "pytest_plugin.py",
}
ENTRY_POINTS = """\
[console_scripts]
memprof = footprint_memory.__main__:run_memprof

[pytest11]
footprint = footprint_memory.pytest_plugin
"""
METADATA = """\
Metadata-Version: 2.1
Name: footprint-memory
Version: %s
Summary: memprof: how many bytes a program needs, when and by whom; stages, notebook commands and a pytest plugin
License: Apache-2.0
Requires-Python: >=3.10
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
"""


class Refused(Exception):
    """Why there is no wheel."""


def needed_libraries(path):
    """Returns the libraries that a program asks the loader for."""
    done = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused("%s cannot be read: %s" % (path, done.stderr.strip()))
    return re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)


def machine_of(program):
    """Returns the machine that a program's bytes are for."""
    if program[:4] != b"\x7fELF" or len(program) < 64:
        raise Refused("memprof is not an ELF program: build //profiling/memprof:portable_memprof")
    number = struct.unpack_from("<H", program, 18)[0]
    if number not in MACHINES:
        raise Refused("memprof is for the machine of ELF's number %d; known are %s"
                      % (number, ", ".join(MACHINES.values())))
    return MACHINES[number]


def refuse_libraries(path):
    """Refuses a program that a bare Debian cannot run."""
    others = [name for name in needed_libraries(path) if not LIBRARIES.fullmatch(name)]
    if others:
        raise Refused("%s needs %s, which a bare Debian lacks: build "
                      "//profiling/memprof:portable_memprof" % (path, ", ".join(others)))


def wheel_files(version, machine, memprof, stages, license_text):
    """Returns {path in the wheel: (bytes, mode)} without the list of all files."""
    here = pathlib.Path(__file__).parent
    info = "footprint_memory-%s.dist-info/" % version
    files = {"footprint.py": (stages, 0o644), PACKAGE + "__init__.py": (stages, 0o644),
             PACKAGE + "memprof": (memprof, 0o755)}
    for name, source in MODULES.items():
        files[PACKAGE + name] = ((here / source).read_bytes(), 0o644)
    wheel = "Wheel-Version: 1.0\nGenerator: footprint\nRoot-Is-Purelib: false\nTag: %s\n"
    texts = {
        "METADATA": METADATA % version,
        "WHEEL": wheel % ("py3-none-linux_" + machine),
        "entry_points.txt": ENTRY_POINTS,
        "LICENSE": license_text,
    }
    for name, text in texts.items():
        files[info + name] = (text.encode(), 0o644)
    return files


def record_of(files, path):
    """Returns RECORD: each file, its hash and its size; its own line has neither."""
    lines = []
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
        lines.append("%s,sha256=%s,%d" % (name, digest.decode(), len(data)))
    return ("\n".join([*lines, path + ",,", ""])).encode()


def write_zip(files, path):
    """Writes the files in order, with a constant time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes pip keeps
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)


def build_wheel(version, memprof, stages, license_file, output):
    """Writes the wheel; returns its path."""
    if not re.fullmatch(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.dev\d+)?", version):
        raise Refused("%r is not a version that pip knows, such as 1.2.3" % version)
    program = memprof.read_bytes()
    machine = machine_of(program)
    refuse_libraries(memprof)
    files = wheel_files(version, machine, program, stages.read_bytes(),
                        license_file.read_text(encoding="utf-8"))
    record = "footprint_memory-%s.dist-info/RECORD" % version
    files[record] = (record_of(files, record), 0o644)
    output.mkdir(parents=True, exist_ok=True)
    path = output / ("footprint_memory-%s-py3-none-linux_%s.whl" % (version, machine))
    unfinished = path.with_suffix(".unfinished")
    write_zip(files, unfinished)
    os.replace(unfinished, path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--version", required=True)
    for name in ("memprof", "stages", "license", "output"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    args = parser.parse_args()
    try:
        print(build_wheel(args.version, args.memprof, args.stages, args.license, args.output))
    except (Refused, OSError) as reason:
        sys.exit("build_wheel: %s" % reason)


if __name__ == "__main__":
    main()
