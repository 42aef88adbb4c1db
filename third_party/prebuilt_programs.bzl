"""The programs of a release in place of those built from source, for MODULE.bazel:

    prebuilt_programs = use_extension("@footprint//third_party:prebuilt_programs.bzl", "prebuilt_programs")
    prebuilt_programs.archive(
        sha256 = "...",
        urls = [".../footprint-programs-0.1.0-linux-x86_64.tar.gz"],
    )

WORKSPACE has the rule of footprint_programs.bzl, where the rest is said.
"""

load(":footprint_programs.bzl", "footprint_programs_repository")

_ARCHIVE = tag_class(attrs = {
    "sha256": attr.string(mandatory = True),
    "urls": attr.string_list(mandatory = True),
})

def _prebuilt_programs_impl(module_ctx):
    # The root module alone decides which binaries run on its machines.
    archives = [
        archive
        for module in module_ctx.modules
        if module.is_root
        for archive in module.tags.archive
    ]
    if len(archives) > 1:
        fail("prebuilt_programs.archive is called %d times; the programs come from one archive" % len(archives))
    footprint_programs_repository(
        name = "footprint_programs",
        sha256 = archives[0].sha256 if archives else "",
        urls = archives[0].urls if archives else [],
    )

prebuilt_programs = module_extension(
    implementation = _prebuilt_programs_impl,
    tag_classes = {"archive": _ARCHIVE},
    doc = "Declares @footprint_programs.",
)
