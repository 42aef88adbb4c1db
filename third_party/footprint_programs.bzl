"""The programs behind Footprint's rules: built from source, or taken from a release.

Rules name their programs in the repository @footprint_programs. By default each is an
alias to its target in this tree, so it is built with everything it needs. An importer
who would rather not compile them takes those of a release, by hash. In WORKSPACE,
before `footprint_repositories()`:

    load("@footprint//third_party:footprint_programs.bzl", "footprint_programs")

    footprint_programs(
        name = "footprint_programs",
        sha256 = "...",  # `tools/dev release` prints it
        urls = [".../footprint-programs-0.1.0-linux-x86_64.tar.gz"],
    )

In MODULE.bazel the extension of prebuilt_programs.bzl does the same.

Two programs are always built from source: `history`, which talks to a store over TLS
and so needs libraries that a bare system lacks, and `selftest`, which plants
regressions into programs that are built here. An archive that lacks another program,
or has a link or a file that cannot be run in its place, is refused. So is one whose
programs do not start on this machine, for instance because its glibc is older.
"""

# Programs of rules, and the targets from which they are built.
_SOURCES = {
    "audit_main": Label("//gates:audit_main"),
    "check_main": Label("//gates:check_main"),
    "compare_main": Label("//gates:compare_main"),
    "diff_main": Label("//gates:diff_main"),
    "explain_main": Label("//gates:explain_main"),
    "fit_main": Label("//gates:fit_main"),
    "history_main": Label("//gates:history_main"),
    "memprof": Label("//profiling:memprof"),
    "profile_runner": Label("//profiling:profile_runner"),
    "report_main": Label("//gates:report_main"),
    "update_main": Label("//gates:update_main"),
}

# The programs that no archive has.
_ALWAYS_BUILT = ["history_main"]

# The programs that are started once, to find out whether this machine runs them.
# All are linked alike.
_STARTED = ["check_main", "memprof"]

_RULE = Label("//third_party:prebuilt_program.bzl")

def _text(label):
    """The label as another repository writes it; Bazel 4 leaves out the main repository's name."""
    text = str(label)
    return "@footprint" + text if text.startswith("//") else text

def _expected_folder(repository_ctx):
    """The folder that an archive for this tree and this machine holds."""
    machine = repository_ctx.execute(["uname", "-m"]).stdout.strip()
    module = repository_ctx.read(Label("//:MODULE.bazel"))
    version = module.split("version = \"")[1].split("\"")[0]
    return "footprint-programs-%s-linux-%s" % (version, machine)

def _fetch(repository_ctx):
    """Unpacks the archive and returns the folder of its programs."""
    if not repository_ctx.attr.sha256:
        fail("footprint_programs has urls, but no sha256: `tools/dev release` prints it beside the archive")
    repository_ctx.download_and_extract(
        repository_ctx.attr.urls,
        output = "release",
        sha256 = repository_ctx.attr.sha256,
    )
    folder = _expected_folder(repository_ctx)
    found = [path.basename for path in repository_ctx.path("release").readdir()]
    if found != [folder]:
        fail(("%s holds %s, where this machine and this version of Footprint need %s: take the archive of that " +
              "name, or remove footprint_programs, and the programs are built from source") % (
            repository_ctx.attr.urls[0],
            ", ".join(found),
            folder,
        ))
    if repository_ctx.execute(["test", "-L", "release/" + folder]).return_code == 0:
        fail("%s: %s is a link: take the archive as the release made it" % (repository_ctx.attr.urls[0], folder))
    return "release/" + folder

def _check_program(repository_ctx, name, path):
    """Fails unless the path of the archive is a program that this machine runs."""
    archive = repository_ctx.attr.urls[0]
    program = repository_ctx.path(path)
    if not program.exists:
        fail("%s has no %s: take the archive as the release made it" % (archive, name))

    # A link could lead out of the archive, whose hash says nothing about its target.
    is_program = repository_ctx.execute(["test", "!", "-L", program, "-a", "-f", program, "-a", "-s", program, "-a", "-x", program])
    if is_program.return_code != 0:
        fail("%s: its %s is not a file that can be run: take the archive as the release made it" % (archive, name))
    if name in _STARTED:
        started = repository_ctx.execute([program, "--help"])
        if started.return_code != 0:
            fail("%s: its %s does not start on this machine (%s): remove footprint_programs, and the programs are built from source" % (
                archive,
                name,
                started.stderr.strip(),
            ))

def _footprint_programs_impl(repository_ctx):
    if repository_ctx.attr.sha256 and not repository_ctx.attr.urls:
        fail("footprint_programs has a sha256, but no urls: name the archive, or remove both, and the programs are built from source")
    folder = _fetch(repository_ctx) if repository_ctx.attr.urls else ""
    lines = [
        "load(\"%s\", \"prebuilt_program\")" % _text(_RULE),
        "package(default_visibility = [\"//visibility:public\"])",
    ]
    for name, source in _SOURCES.items():
        path = folder + "/" + name
        if folder and name not in _ALWAYS_BUILT:
            _check_program(repository_ctx, name, path)
            lines.append("prebuilt_program(name = \"%s\", src = \"%s\")" % (name, path))
        else:
            lines.append("alias(name = \"%s\", actual = \"%s\")" % (name, _text(source)))
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name)
    repository_ctx.file("BUILD.bazel", "\n".join(lines) + "\n")

# The extension of prebuilt_programs.bzl uses it as it is.
footprint_programs_repository = repository_rule(
    implementation = _footprint_programs_impl,
    attrs = {
        "sha256": attr.string(doc = "Hash of the archive in hexadecimal digits."),
        "urls": attr.string_list(
            doc = "Where the archive footprint-programs-VERSION-linux-MACHINE.tar.gz of a release is. None: all programs are built from source.",
        ),
    },
    doc = "The programs that Footprint's rules run; see the top of this file.",
)

def footprint_programs(name = "footprint_programs", urls = [], sha256 = ""):
    """Declares the programs that Footprint's rules run, for WORKSPACE.

    Args:
      name: footprint_programs, by which the rules find their programs.
      urls: where the archive is; none: all programs are built from source.
      sha256: the hash of the archive.
    """
    if name != "footprint_programs":
        fail("footprint_programs has the name %s: rules find their programs by the name footprint_programs" % name)

    # Bazel would keep the first of two, and build from source.
    if native.existing_rule(name):
        fail("footprint_programs is called after footprint_repositories(), or twice: call it once, before")
    footprint_programs_repository(name = name, urls = urls, sha256 = sha256)
