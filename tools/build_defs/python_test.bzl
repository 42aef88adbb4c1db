"""A test in Python, run by the system's interpreter.

py_test would ask for rules_python and a toolchain in newer Bazels; the scripts
here need the standard library only.
"""

load("@rules_shell//shell:sh_test.bzl", "sh_test")

def footprint_python_test(name, srcs, data = [], **kwargs):
    """A unittest file.

    Args:
      name: name of the target.
      srcs: the one file with the tests.
      data: the scripts under test, found beside the test file.
      **kwargs: passed to sh_test.
    """
    if len(srcs) != 1:
        fail("%s: srcs must hold one file" % name)
    sh_test(
        name = name,
        size = kwargs.pop("size", "small"),
        srcs = ["//tools/build_defs:python_test.sh"],
        args = ["$(location %s)" % srcs[0]],
        data = srcs + data,
        **kwargs
    )
