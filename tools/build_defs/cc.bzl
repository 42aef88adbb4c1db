"""The house's C++ rules: the registry's rules with Footprint's conventions."""

load("@protobuf//bazel:cc_proto_library.bzl", "cc_proto_library")
load("@protobuf//bazel:proto_library.bzl", "proto_library")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

_INCLUDE_ROOT = "footprint/"

# What every test begins with, parsed before.
_PRELUDE = "//base/testing:test_prelude"
_PRELUDE_HEADER = _INCLUDE_ROOT + "base/testing/test_prelude.h"
_NO_PRELUDE = "//tools/build_defs:without_test_prelude"

def footprint_cc_library(name, **kwargs):
    """A cc_library whose headers are included as "footprint/<package>/<header>".

    The prefix lets an importer have a folder of the same name.

    Args:
      name: name of the target.
      **kwargs: passed to cc_library.
    """
    cc_library(
        name = name,
        include_prefix = _INCLUDE_ROOT + native.package_name(),
        strip_include_prefix = "/" + native.package_name(),
        **kwargs
    )

def footprint_cc_test(name, deps = [], **kwargs):
    """A GoogleTest of one library.

    Args:
      name: name of the target.
      deps: what is tested; GoogleTest and its main are added.
      **kwargs: passed to cc_test.
    """
    cc_test(
        name = name,
        size = kwargs.pop("size", "small"),
        copts = kwargs.pop("copts", []) + select({
            _NO_PRELUDE: [],
            "//conditions:default": ["-include", _PRELUDE_HEADER],
        }),
        deps = deps + ["@googletest//:gtest", "@googletest//:gtest_main"] + select({
            _NO_PRELUDE: [],
            "//conditions:default": [_PRELUDE],
        }),
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
