"""The variables of tests in this repository and in another, for test_environments_test."""

load("//profiling:test_program.bzl", "test_environment")

def environments():
    """The variables that name three tests, one test after the other.

    Returns:
      A list of words NAME=VALUE.
    """
    info = struct(environment = {}, inherited = [], kind = "sh_test", shard_count = 1, size = "small")
    words = []
    for label in [Label("//profiling:load_test"), Label("@googletest//:load_test"), Label("@googletest//app:load_test")]:
        variables = test_environment(label, info, {})
        words += ["%s=%s" % (name, variables[name]) for name in ["TEST_TARGET", "TEST_BINARY"]]
    return words
