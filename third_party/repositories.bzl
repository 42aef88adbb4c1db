"""Footprint's dependencies for Bazel 4.2.3, as Debian 12 packages them.

Every repository has the name and the labels that the Bazel Central Registry
gives it, so one tree of BUILD files serves WORKSPACE and MODULE.bazel. A
repository that the importer declared before the call is left alone.
"""

load("//third_party:footprint_programs.bzl", "footprint_programs")
load("//third_party:machine_fingerprint.bzl", "machine_fingerprint")
load("//third_party:native_rules_repository.bzl", "native_rules_repository")
load("//third_party:system_fingerprint.bzl", "system_fingerprint")
load("//third_party:system_repository.bzl", "system_repository")

_LIBRARY_DIRECTORY = "/usr/lib/x86_64-linux-gnu/"
_RIVALS = {
    "leveldb": "libleveldb-dev",
    "rocksdb": "librocksdb-dev",
}
_ABSEIL_PACKAGES = [
    "algorithm",
    "base",
    "cleanup",
    "container",
    "debugging",
    "flags",
    "functional",
    "hash",
    "memory",
    "numeric",
    "random",
    "status",
    "strings",
    "synchronization",
    "time",
    "types",
    "utility",
]

def _overlay(path):
    return "@footprint//third_party:" + path

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def _rule_repositories():
    """The rules_* modules, and the repositories that every Bazel 4 test wants."""
    _maybe(
        native_rules_repository,
        name = "rules_cc",
        build_file_content = """\
alias(
    name = "current_cc_toolchain",
    actual = "@bazel_tools//tools/cpp:current_cc_toolchain",
    visibility = ["//visibility:public"],
)
""",
        package = "cc",
        rules = [
            "cc_binary",
            "cc_import",
            "cc_library",
            "cc_test",
            "cc_libc_top_alias",
            "cc_proto_library",
            "cc_toolchain",
            "cc_toolchain_alias",
            "cc_toolchain_suite",
            "fdo_prefetch_hints",
            "fdo_profile",
            "objc_import",
            "objc_library",
        ],
        extra_files = {
            "cc/action_names.bzl": """\
load("@bazel_tools//tools/build_defs/cc:action_names.bzl", _compile = "CPP_COMPILE_ACTION_NAME")

CPP_COMPILE_ACTION_NAME = _compile
""",
            "cc/common/BUILD.bazel": "",
            # A name cannot be exported as itself where it is built in.
            "cc/common/built_in.bzl": "built_in_cc_common = cc_common\nBuiltInCcInfo = CcInfo\n",
            "cc/common/cc_common.bzl": "load(\":built_in.bzl\", \"built_in_cc_common\")\ncc_common = built_in_cc_common\n",
            "cc/common/cc_info.bzl": "load(\":built_in.bzl\", \"BuiltInCcInfo\")\nCcInfo = BuiltInCcInfo\n",
            "cc/find_cc_toolchain.bzl": """\
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", _find = "find_cpp_toolchain")

def find_cc_toolchain(ctx):
    return _find(ctx)

CC_TOOLCHAIN_ATTRS = {
    "_cc_toolchain": attr.label(default = Label("@bazel_tools//tools/cpp:current_cc_toolchain")),
}

def use_cc_toolchain():
    return ["@bazel_tools//tools/cpp:toolchain_type"]
""",
        },
    )
    _maybe(
        native_rules_repository,
        name = "rules_shell",
        package = "shell",
        rules = ["sh_binary", "sh_library", "sh_test"],
    )
    _maybe(
        native_rules_repository,
        name = "rules_java",
        package = "java",
        rules = [
            "java_binary",
            "java_import",
            "java_library",
            "java_package_configuration",
            "java_plugin",
            "java_proto_library",
            "java_runtime",
            "java_test",
            "java_toolchain",
        ],
    )
    _maybe(
        system_repository,
        name = "remote_coverage_tools",
        build_files = {"": _overlay("remote_coverage_tools/root.BUILD")},
        files = {"lcov_merger.py": _overlay("remote_coverage_tools/lcov_merger.py")},
    )

def _library_repositories():
    """The libraries, each bound to what the system has installed."""
    _maybe(
        system_repository,
        name = "abseil-cpp",
        build_files = dict(
            [("", _overlay("abseil-cpp/root.BUILD"))] +
            [
                ("absl/" + package, _overlay("abseil-cpp/package.BUILD"))
                for package in _ABSEIL_PACKAGES
            ],
        ),
        debian_package = "libabsl-dev",
        files = {"targets.bzl": _overlay("abseil-cpp/targets.bzl.in")},
        listed_archives = _LIBRARY_DIRECTORY + "libabsl_*.a",
    )
    _maybe(
        system_repository,
        name = "protobuf",
        build_files = {
            "": _overlay("protobuf/root.BUILD"),
            "bazel": _overlay("protobuf/rules.BUILD"),
        },
        debian_package = "libprotobuf-dev protobuf-compiler",
        files = {
            "bazel/cc_proto_library.bzl": _overlay("protobuf/cc_proto_library.bzl.in"),
            "bazel/proto_library.bzl": _overlay("protobuf/proto_library.bzl.in"),
        },
        system_files = {"protoc": "/usr/bin/protoc"},
    )
    _maybe(
        system_repository,
        name = "com_google_protobuf",
        build_files = {"": _overlay("com_google_protobuf/root.BUILD")},
    )
    _maybe(
        system_repository,
        name = "googletest",
        build_files = {"": _overlay("googletest/root.BUILD")},
        debian_package = "googletest",
        system_files = {
            "googlemock": "/usr/src/googletest/googlemock",
            "googletest": "/usr/src/googletest/googletest",
        },
    )
    _maybe(
        system_repository,
        name = "google_benchmark",
        build_files = {"": _overlay("google_benchmark/root.BUILD")},
        debian_package = "libbenchmark-dev",
    )
    _maybe(
        system_repository,
        name = "jemalloc",
        build_files = {"": _overlay("jemalloc/root.BUILD")},
        debian_package = "libjemalloc-dev",
        system_files = {"libjemalloc_pic.a": _LIBRARY_DIRECTORY + "libjemalloc_pic.a"},
    )
    _maybe(
        system_repository,
        name = "eigen",
        build_files = {"": _overlay("eigen/root.BUILD")},
        debian_package = "libeigen3-dev",
        system_files = {"eigen3": "/usr/include/eigen3"},
    )
    _maybe(
        system_repository,
        name = "highway",
        build_files = {"": _overlay("highway/root.BUILD")},
        debian_package = "libhwy-dev",
        system_files = {"include/hwy": "/usr/include/hwy"},
    )
    _maybe(
        system_repository,
        name = "nlohmann_json",
        build_files = {"": _overlay("nlohmann_json/root.BUILD")},
        debian_package = "nlohmann-json3-dev",
        system_files = {"include/nlohmann": "/usr/include/nlohmann"},
    )
    _maybe(
        system_repository,
        name = "liburing",
        build_files = {"": _overlay("liburing/root.BUILD")},
        debian_package = "liburing-dev",
        system_files = {
            "include/liburing": "/usr/include/liburing",
            "include/liburing.h": "/usr/include/liburing.h",
        },
    )

    _maybe(
        system_repository,
        name = "pcre2",
        build_files = {"": _overlay("pcre2/root.BUILD")},
        debian_package = "libpcre2-dev",
        system_files = {"include/pcre2.h": "/usr/include/pcre2.h"},
    )
    _maybe(
        system_repository,
        name = "utf8proc",
        build_files = {"": _overlay("utf8proc/root.BUILD")},
        debian_package = "libutf8proc-dev",
        system_files = {"include/utf8proc.h": "/usr/include/utf8proc.h"},
    )
    _maybe(
        system_repository,
        name = "sqlite3",
        build_files = {"": _overlay("sqlite3/root.BUILD")},
        debian_package = "libsqlite3-dev",
        system_files = {"include/sqlite3.h": "/usr/include/sqlite3.h"},
    )
    _maybe(
        system_repository,
        name = "boringssl",
        build_files = {"": _overlay("boringssl/root.BUILD")},
        debian_package = "libssl-dev",
        system_files = {"include/openssl": "/usr/include/openssl"},
    )
    _maybe(
        system_repository,
        name = "cpp-httplib",
        build_files = {"": _overlay("cpp-httplib/root.BUILD")},
        debian_package = "libcpp-httplib-dev",
        system_files = {"include/httplib.h": "/usr/include/httplib.h"},
    )
    _maybe(
        system_repository,
        name = "libarchive",
        build_files = {"libarchive": _overlay("libarchive/root.BUILD")},
        debian_package = "libarchive-dev",
        system_files = {
            "libarchive/include/archive.h": "/usr/include/archive.h",
            "libarchive/include/archive_entry.h": "/usr/include/archive_entry.h",
        },
    )
    _maybe(
        system_repository,
        name = "elfutils",
        build_files = {"": _overlay("elfutils/root.BUILD")},
        debian_package = "libdw-dev",
        system_files = {
            "include/dwarf.h": "/usr/include/dwarf.h",
            "include/elfutils": "/usr/include/elfutils",
            "include/gelf.h": "/usr/include/gelf.h",
            "include/libelf.h": "/usr/include/libelf.h",
        },
    )

def _data_repositories():
    """Real data for tests, taken from packages that have it anyway."""
    _maybe(
        system_repository,
        name = "matplotlib_data",
        build_files = {"": _overlay("matplotlib_data/root.BUILD")},
        debian_package = "python-matplotlib-data",
        system_files = {
            "msft.csv": "/usr/share/matplotlib/mpl-data/sample_data/msft.csv",
        },
    )

def _alternative_repositories():
    """Libraries that benchmarks compare with, where the system has them."""
    for name, debian_package in _RIVALS.items():
        _maybe(
            system_repository,
            name = name,
            build_files = {"": _overlay(name + "/root.BUILD")},
            debian_package = debian_package,
            is_optional = True,
            system_files = {"include/" + name: "/usr/include/" + name},
        )

def footprint_repositories():
    """Declares everything that Footprint needs under Bazel 4.2.3."""
    _rule_repositories()
    _library_repositories()
    _data_repositories()
    _alternative_repositories()
    _maybe(footprint_programs, name = "footprint_programs")
    _maybe(machine_fingerprint, name = "footprint_machine")
    _maybe(system_fingerprint, name = "footprint_system")
