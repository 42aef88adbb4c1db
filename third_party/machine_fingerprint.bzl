"""The kernel and the processor, for which figures that vary are true, as a file.

Its content is in the key of every action that measures such a figure, so that
none is taken for that of another machine. It is read again when Bazel's server
starts: neither changes under a server that runs.
"""

_COMMAND = "uname -srm; sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1"

def _machine_fingerprint_impl(repository_ctx):
    told = repository_ctx.execute(["sh", "-c", _COMMAND])
    if told.return_code:
        fail("cannot tell kernel and processor: " + told.stderr)
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name)
    repository_ctx.file("BUILD.bazel", "exports_files([\"fingerprint.txt\"])\n")
    repository_ctx.file("fingerprint.txt", told.stdout)

machine_fingerprint = repository_rule(
    implementation = _machine_fingerprint_impl,
    local = True,
    doc = "A repository with the file fingerprint.txt.",
)
