#!/usr/bin/env python3
"""Makes the programs of a release: memprof alone, the wheel, and those behind the rules.

    release_programs.py --memprof=FILE [--tree=.] [--output=.cache/release]
                        [--program=FILE ...] TAG

The FILE of --memprof is //profiling/memprof:portable_memprof, built with -c opt. Writes
memprof-VERSION-linux-MACHINE.tar.gz and the wheel of profiling/wheel. With --program,
once for each other program that third_party/footprint_programs.bzl names, also writes
footprint-programs-VERSION-linux-MACHINE.tar.gz: importers whose workspace names this
archive compile none of them. Prints the paths, and the archive's SHA-256, by which
that workspace names it. The same programs give the same bytes.
build_portable_programs.sh builds them all.

Exit 1, and nothing is written: TAG is not the version of MODULE.bazel, a program is
for no known machine, for another one than FILE or needs libraries that a bare Debian
lacks, or the output has a file of this version with other bytes.
"""

import argparse
import hashlib
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


def archive_of(programs, files, folder):
    """Returns a compressed tar of {name: path} of programs, and of the files beside them."""
    tar = io.BytesIO()
    members = [(name, path, 0o755) for name, path in sorted(programs.items())]
    members += [(path.name, path, 0o644) for path in files]
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, path, mode in members:
            data = path.read_bytes()
            member = tarfile.TarInfo("%s/%s" % (folder, name))
            member.size, member.mode = len(data), mode
            archive.addfile(member, io.BytesIO(data))
    return release.gzipped(tar.getvalue())


def refuse_other(path, data):
    """Refuses to write where a file of this version has other bytes."""
    if path.exists() and path.read_bytes() != data:
        raise release.Refused("%s is there with other bytes: remove it if nobody has it,"
                              " else release a new version" % path)


def refuse_programs(builder, machine, programs):
    """Refuses programs that the machines of memprof cannot run."""
    for path in programs:
        other = builder.machine_of(path.read_bytes())
        if other != machine:
            raise release.Refused("%s is for %s, but memprof for %s" % (path, other, machine))
        builder.refuse_libraries(path)


def make_programs(tree, memprof, output, tag, programs=()):
    """Writes the files; returns their paths."""
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
        refuse_programs(builder, machine, programs)
    except builder.Refused as reason:
        raise release.Refused(str(reason)) from None
    name = "memprof-%s-linux-%s" % (version, machine)
    files[output / (name + ".tar.gz")] = archive_of(
        {"memprof": memprof}, [tree / file for file in FILES], name)
    if programs:
        name = "footprint-programs-%s-linux-%s" % (version, machine)
        files[output / (name + ".tar.gz")] = archive_of(
            {"memprof": memprof, **{path.name: path for path in programs}},
            [tree / "LICENSE"], name)
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
    parser.add_argument("--program", action="append", default=[], type=pathlib.Path)
    parser.add_argument("tag")
    args = parser.parse_args()
    try:
        for path in make_programs(
                args.tree, args.memprof, args.output, args.tag, args.program):
            print("program    %s" % path)
            if path.name.startswith("footprint-programs-"):
                print("sha256     %s" % hashlib.sha256(path.read_bytes()).hexdigest())
    except (release.Refused, OSError) as reason:
        sys.exit("release: %s" % reason)


if __name__ == "__main__":
    main()
