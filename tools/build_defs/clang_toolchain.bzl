"""clang as the compiler of the mode fastbuild, in Debian 12's Bazel.

    load("//tools/build_defs:clang_toolchain.bzl", "clang_toolchain_repository")
    clang_toolchain_repository(name = "clang_toolchain")

and `--crosstool_top=@clang_toolchain//by_mode:toolchain`. The machine's own compiler
compiles the other modes as before, so all that is measured or released. Why:
docs/decisions/0070.
"""

load("@bazel_tools//tools/cpp:lib_cc_configure.bzl", "get_cpu_value")
load("@bazel_tools//tools/cpp:unix_cc_configure.bzl", "configure_unix_toolchain")

_BY_MODE = """\
config_setting(
    name = "fastbuild",
    values = {"compilation_mode": "fastbuild"},
)

alias(
    name = "toolchain",
    actual = select({
        ":fastbuild": "//:toolchain",
        "//conditions:default": "@bazel_tools//tools/cpp:toolchain",
    }),
    visibility = ["//visibility:public"],
)
"""

_HEADER_PACKAGES = [
    "libabsl-dev",
    "libc6-dev",
    "libclang-common-*-dev",
    "libprotobuf-dev",
    "libstdc++-*-dev",
    "linux-libc-dev",
    "nlohmann-json3-dev",
]

def _clang_toolchain_repository_impl(repository_ctx):
    clang = repository_ctx.which("clang")
    if not clang:
        fail("clang is not installed; run tools/dev setup, which installs it")
    configure_unix_toolchain(repository_ctx, get_cpu_value(repository_ctx), {"gcc": str(clang)})
    repository_ctx.file("by_mode/BUILD", _BY_MODE)

    # Bazel does not look at the system's headers. Every compilation has this file as
    # an input, so that none takes a header that was parsed before an upgrade.
    versions = repository_ctx.execute(["dpkg-query", "--show"] + _HEADER_PACKAGES)
    if versions.return_code != 0:
        fail("the versions of the system's headers are unknown: " + versions.stderr)
    repository_ctx.file("extra_tools/header_packages", versions.stdout)

clang_toolchain_repository = repository_rule(
    implementation = _clang_toolchain_repository_impl,
    configure = True,
    doc = "Bazel's own description of a compiler, written for clang.",
    local = True,
)
