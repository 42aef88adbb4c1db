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
regressions into programs that are built here. An archive that lacks another program
is refused.
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
    return "release/" + folder

def _footprint_programs_impl(repository_ctx):
    folder = _fetch(repository_ctx) if repository_ctx.attr.urls else ""
    lines = [
        "load(\"%s\", \"prebuilt_program\")" % _text(_RULE),
        "package(default_visibility = [\"//visibility:public\"])",
    ]
    for name, source in _SOURCES.items():
        path = folder + "/" + name
        if folder and name not in _ALWAYS_BUILT:
            if not repository_ctx.path(path).exists:
                fail("%s has no %s: take the archive as the release made it" % (repository_ctx.attr.urls[0], name))
            lines.append("prebuilt_program(name = \"%s\", src = \"%s\")" % (name, path))
        else:
            lines.append("alias(name = \"%s\", actual = \"%s\")" % (name, _text(source)))
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name)
    repository_ctx.file("BUILD.bazel", "\n".join(lines) + "\n")

footprint_programs = repository_rule(
    implementation = _footprint_programs_impl,
    attrs = {
        "sha256": attr.string(doc = "Hash of the archive in hexadecimal digits."),
        "urls": attr.string_list(
            doc = "Where the archive footprint-programs-VERSION-linux-MACHINE.tar.gz of a release is. None: all programs are built from source.",
        ),
    },
    doc = "The programs that Footprint's rules run; see the top of this file.",
)
