"""Repositories whose content is what the operating system has installed."""

def _write_build_files(repository_ctx):
    for package, label in repository_ctx.attr.build_files.items():
        path = (package + "/" if package else "") + "BUILD.bazel"
        repository_ctx.symlink(repository_ctx.path(Label(label)), path)
    for path, label in repository_ctx.attr.files.items():
        repository_ctx.symlink(repository_ctx.path(Label(label)), path)

def _are_all_present(repository_ctx):
    for system_path in repository_ctx.attr.system_files.values():
        if not repository_ctx.path(system_path).exists:
            return False
    return True

def _link_system_files(repository_ctx):
    if repository_ctx.attr.is_optional:
        is_present = _are_all_present(repository_ctx)
        repository_ctx.file(
            "present.bzl",
            "\"\"\"Whether %s is installed.\"\"\"\n\nIS_PRESENT = %s\n" %
            (repository_ctx.attr.debian_package, is_present),
        )
        if not is_present:
            return
    for path, system_path in repository_ctx.attr.system_files.items():
        source = repository_ctx.path(system_path)
        if not source.exists:
            fail("%s is missing. Run tools/dev setup, or: apt-get install %s" % (
                system_path,
                repository_ctx.attr.debian_package,
            ))
        repository_ctx.symlink(source, path)

def _list_archives(repository_ctx):
    pattern = repository_ctx.attr.listed_archives
    if not pattern:
        return
    listing = repository_ctx.execute(["sh", "-c", "ls " + pattern])
    if listing.return_code:
        fail("no %s. Run tools/dev setup, or: apt-get install %s" % (
            pattern,
            repository_ctx.attr.debian_package,
        ))
    names = [path.split("/")[-1] for path in listing.stdout.split("\n") if path]
    repository_ctx.file(
        "archives.bzl",
        "\"\"\"The archives that %s installed.\"\"\"\n\nARCHIVES = %s\n" %
        (repository_ctx.attr.debian_package, repr(names)),
    )

def _system_repository_impl(repository_ctx):
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name)
    _write_build_files(repository_ctx)
    _link_system_files(repository_ctx)
    _list_archives(repository_ctx)

system_repository = repository_rule(
    implementation = _system_repository_impl,
    attrs = {
        "build_files": attr.string_dict(
            doc = "Package inside the repository -> label of its BUILD file.",
        ),
        "debian_package": attr.string(
            doc = "The package that ships the system files, named when one is missing.",
        ),
        "files": attr.string_dict(
            doc = "Path inside the repository -> label of the file to put there.",
        ),
        "is_optional": attr.bool(
            doc = "Whether the build goes on without the system files. The " +
                  "repository then has none of them; present.bzl says which it is.",
        ),
        "listed_archives": attr.string(
            doc = "Shell pattern of the archives that archives.bzl is to list.",
        ),
        "system_files": attr.string_dict(
            doc = "Path inside the repository -> path on the system. Files linked " +
                  "this way are inputs of the build: an upgrade rebuilds what uses them.",
        ),
    },
    doc = "Maps a name of the Bazel Central Registry to an installed library.",
    local = True,
)
