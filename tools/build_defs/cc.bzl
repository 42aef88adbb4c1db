"""The house's C++ rules: the registry's rules with Footprint's conventions."""

load("@protobuf//bazel:cc_proto_library.bzl", "cc_proto_library")
load("@protobuf//bazel:proto_library.bzl", "proto_library")
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")
load("//tools/build_defs:precompiled_header.bzl", "precompiled_header_copts")

_INCLUDE_ROOT = "footprint/"

# The header that every test begins with, and the header of libraries and
# programs. Each is parsed once for all: docs/decisions/0070.
_TEST_PRELUDE = struct(name = "test_prelude", package = "base/testing")
_LIBRARY_PRELUDE = struct(name = "library_prelude", package = "tools/build_defs")

def _only_with_preludes(values):
    return select({
        "//tools/build_defs:with_preludes": values,
        "//conditions:default": [],
    })

def _prelude_copts(prelude):
    return _only_with_preludes(precompiled_header_copts(prelude.package, prelude.name))

def _prelude_deps(prelude):
    return _only_with_preludes(["//%s:%s" % (prelude.package, prelude.name)])

# With the prelude a source needs the C++ library, even if it does not use it.
# Code that runs inside malloc must not, and of Abseil it depends only on the
# macros.
def _is_in_cpp_library_anyway(dep):
    return dep.endswith("_cc_proto") or (
        dep.startswith("@abseil-cpp//") and not dep.startswith("@abseil-cpp//absl/base:")
    )

def with_library_prelude(srcs, deps, copts):
    """`deps` and `copts` of a rule whose sources begin with the prelude.

    Args:
      srcs: of a C++ rule.
      deps: of the rule; without a proto or more of Abseil than absl/base among them,
        it is left as it is.
      copts: of the rule; with options of its own, clang would not take what is
        parsed without them, so it is left as it is.

    Returns:
      A struct of deps and copts.
    """
    if (copts or type(srcs) != "list" or type(deps) != "list" or
        not any([src.endswith(".cc") for src in srcs]) or
        not any([_is_in_cpp_library_anyway(dep) for dep in deps])):
        return struct(copts = copts, deps = deps)
    return struct(
        copts = _prelude_copts(_LIBRARY_PRELUDE),
        deps = deps + _prelude_deps(_LIBRARY_PRELUDE),
    )

def footprint_cc_library(name, srcs = [], deps = [], copts = [], **kwargs):
    """A cc_library whose headers are included as "footprint/<package>/<header>".

    The prefix lets an importer have a folder of the same name.

    Args:
      name: name of the target.
      srcs: as of cc_library; each includes what it uses.
      deps: as of cc_library.
      copts: as of cc_library.
      **kwargs: passed to cc_library.
    """
    begun = with_library_prelude(srcs, deps, copts)
    cc_library(
        name = name,
        srcs = srcs,
        copts = begun.copts,
        include_prefix = _INCLUDE_ROOT + native.package_name(),
        strip_include_prefix = "/" + native.package_name(),
        deps = begun.deps,
        **kwargs
    )

def footprint_cc_binary(name, srcs = [], deps = [], copts = [], **kwargs):
    """A cc_binary that is compiled as footprint_cc_library compiles.

    Args:
      name: name of the target.
      srcs: as of cc_binary; each includes what it uses.
      deps: as of cc_binary.
      copts: as of cc_binary.
      **kwargs: passed to cc_binary.
    """
    begun = with_library_prelude(srcs, deps, copts)
    cc_binary(
        name = name,
        srcs = srcs,
        copts = begun.copts,
        deps = begun.deps,
        **kwargs
    )

def footprint_cc_test(name, deps = [], copts = [], **kwargs):
    """A GoogleTest of one library.

    Args:
      name: name of the target.
      deps: what is tested; GoogleTest and its main are added.
      copts: as of cc_test; with options of its own, the test begins without the
        prelude.
      **kwargs: passed to cc_test.
    """
    deps = deps + ["@googletest//:gtest", "@googletest//:gtest_main"]
    cc_test(
        name = name,
        size = kwargs.pop("size", "small"),
        copts = copts or _prelude_copts(_TEST_PRELUDE),
        deps = deps if copts else deps + _prelude_deps(_TEST_PRELUDE),
        **kwargs
    )

def footprint_proto_library(name, srcs, deps = [], visibility = None):
    """A proto and its C++ code, included as "footprint/<package>/<name>.pb.h".

    Args:
      name: must end in "_proto"; the C++ target replaces it by "_cc_proto".
      srcs: one .proto file.
      deps: proto_library targets that it imports.
      visibility: of both targets.
    """
    proto_library(
        name = name,
        srcs = srcs,
        import_prefix = _INCLUDE_ROOT + native.package_name(),
        strip_import_prefix = "/" + native.package_name(),
        visibility = visibility,
        deps = deps,
    )
    cc_proto_library(
        name = name[:-len("_proto")] + "_cc_proto",
        visibility = visibility,
        deps = [":" + name],
    )
