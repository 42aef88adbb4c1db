#!/usr/bin/env python3
"""Makes what people without Bazel install: memprof alone, and the wheel.

    release_programs.py --memprof=FILE [--tree=.] [--output=.cache/release] TAG

FILE is //profiling/memprof:portable_memprof, built with -c opt. Writes
memprof-VERSION-linux-MACHINE.tar.gz and the wheel of profiling/wheel, and prints
their paths. The same FILE gives the same bytes.

Exit 1, and nothing is written: TAG is not the version of MODULE.bazel, FILE is no
program for a known machine or needs libraries that a bare Debian lacks, or the output
has a file of this version with other bytes.
"""

import argparse
import io
import pathlib
import sys
import tarfile
import tempfile

import release

# What lies beside memprof, by its path in the tree.
FILES = ("LICENSE", "profiling/stages/footprint.py", "profiling/stages/footprint_stage.h")


def wheel_builder(tree):
    """Returns the module that builds the wheel."""
    sys.path.insert(0, str(tree / "profiling/wheel"))
    import build_wheel
    return build_wheel


def archive_of(tree, memprof, folder):
    """Returns a compressed tar of the program and the files beside it."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, mode in [(memprof, 0o755), *((tree / name, 0o644) for name in FILES)]:
            data = path.read_bytes()
            name = "memprof" if path == memprof else path.name
            member = tarfile.TarInfo("%s/%s" % (folder, name))
            member.size, member.mode = len(data), mode
            archive.addfile(member, io.BytesIO(data))
    return release.gzipped(tar.getvalue())


def refuse_other(path, data):
    """Refuses to write where a file of this version has other bytes."""
    if path.exists() and path.read_bytes() != data:
        raise release.Refused("%s is there with other bytes: remove it if nobody has it,"
                              " else release a new version" % path)


def make_programs(tree, memprof, output, tag):
    """Writes both files; returns their paths."""
    version = release.module_version((tree / "MODULE.bazel").read_text())
    if tag != "v" + version:
        raise release.Refused("tag %s, but MODULE.bazel says version %s" % (tag, version))
    builder = wheel_builder(tree)
    files = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            wheel = builder.build_wheel(version, memprof, tree / "profiling/stages/footprint.py",
                                        tree / "LICENSE", pathlib.Path(folder))
            files[output / wheel.name] = wheel.read_bytes()
        machine = builder.machine_of(memprof.read_bytes())
    except builder.Refused as reason:
        raise release.Refused(str(reason)) from None
    name = "memprof-%s-linux-%s" % (version, machine)
    files[output / (name + ".tar.gz")] = archive_of(tree, memprof, name)
    for path, data in files.items():
        refuse_other(path, data)
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return list(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--memprof", type=pathlib.Path, required=True)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(".cache/release"))
    # As release.py has it.
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    parser.add_argument("tag")
    args = parser.parse_args()
    try:
        for path in make_programs(args.tree, args.memprof, args.output, args.tag):
            print("program    %s" % path)
    except (release.Refused, OSError) as reason:
        sys.exit("release: %s" % reason)


if __name__ == "__main__":
    main()
