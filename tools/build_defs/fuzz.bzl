"""Fuzz targets: the replay of a corpus as a test, and the fuzzer itself."""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

_SUFFIX = "_fuzz_test"

def footprint_fuzz_test(name, srcs, corpus, deps = [], **kwargs):
    """A fuzz target of one parser (//base/testing:fuzz_target).

    The test `name` replays the corpus without an engine, under any compiler. The
    program without "_test" is the fuzzer; it wants clang and --config=fuzz, and
    `tools/dev fuzz` builds and runs it, so no wildcard names it.

    Args:
      name: must end in "_fuzz_test".
      srcs: one file with a FOOTPRINT_FUZZ_TARGET.
      corpus: files of the format, good and broken ones, some KB each; every
        input that once was a finding.
        A dictionary of the format's words is testdata/NAME_fuzz.dict, if it
        is there (https://llvm.org/docs/LibFuzzer.html#dictionaries).
      deps: of both; //base/testing:fuzz_target is added.
      **kwargs: passed to cc_test.
    """
    if not name.endswith(_SUFFIX):
        fail("%s: the name of a fuzz test ends in %s" % (name, _SUFFIX))
    if not corpus:
        fail("%s: without a corpus nothing would be tested" % name)
    all_deps = deps + ["//base/testing:fuzz_target"]
    cc_test(
        name = name,
        size = kwargs.pop("size", "small"),
        srcs = srcs,
        args = ["$(rootpath %s)" % file for file in corpus],
        data = corpus,
        deps = all_deps + ["//base/testing:replay_corpus"],
        **kwargs
    )
    program = name[:-len("_test")]
    cc_binary(
        name = program,
        testonly = True,
        srcs = srcs,
        data = corpus + native.glob(["testdata/%s.dict" % program], allow_empty = True),
        linkopts = ["-fsanitize=fuzzer"],
        tags = [
            "fuzz",
            "manual",
        ],
        deps = all_deps,
    )
