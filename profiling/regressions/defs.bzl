"""Programs that are measured, and beside each the same one for a memory_gate_selftest."""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("//profiling:defs.bzl", "memory_profile")

def measured_binary(name, profile_args = [], profile_data = {}, visibility = None, **kwargs):
    """A cc_binary with exact_heap, and one into which regressions can be planted.

    NAME_with_regressions is linked of the same libraries with another heap, and
    NAME_with_regressions_profile measures it; both are built on demand only.

    Args:
      name: of the program.
      profile_args: with which the second is measured.
      profile_data: files that it opens, as memory_profile's data.
      visibility: of both programs and of the profile.
      **kwargs: of cc_binary, without `malloc`.
    """
    cc_binary(
        name = name,
        malloc = Label("//profiling:exact_heap"),
        visibility = visibility,
        **kwargs
    )
    planted = dict(kwargs)
    planted["testonly"] = True
    planted["tags"] = ["manual"]
    cc_binary(
        name = name + "_with_regressions",
        malloc = Label("//profiling/regressions:heap"),
        visibility = visibility,
        **planted
    )
    memory_profile(
        name = name + "_with_regressions_profile",
        testonly = True,
        args = profile_args,
        benchmark = ":" + name + "_with_regressions",
        data = profile_data,
        tags = ["manual"],
        visibility = visibility,
    )
