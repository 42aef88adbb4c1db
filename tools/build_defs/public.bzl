"""The list of a package's public targets: its BUILD is the door, its rooms the house."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")

def _name_of(label):
    return label.rpartition("/")[2].rpartition(":")[2]

def public_aliases(name, targets):
    """Gives targets of rooms their public labels, in this package.

    A file NAME_needs lists what all of them are made of, other modules' targets too.

    Args:
      name: of the list; NAME_needs is the target of that file.
      targets: labels; each keeps its name, so //memo/schedule:memo_trace_file is
        //memo:memo_trace_file here.
    """
    if not targets:
        fail("%s lists no target" % name)
    for target in targets:
        native.alias(
            name = _name_of(target),
            actual = target,
            visibility = ["//visibility:public"],
        )
    native.genquery(
        name = name + "_needs",
        testonly = True,
        expression = "deps(set(%s))" % " ".join(targets),
        opts = ["--noimplicit_deps"],
        scope = targets,
        tags = ["manual"],
        visibility = ["//tools/release:__pkg__"],
    )

def public_package(name, libraries, others = []):
    """A package whose main target is the package: all its libraries, or one by one.

    Args:
      name: the package's, of the target that stands for all `libraries`.
      libraries: labels of what an importer may use, by itself, too.
      others: labels of what else is public: programs, protos, what needs more
        than the libraries do.
    """
    cc_library(
        name = name,
        visibility = ["//visibility:public"],
        deps = libraries,
    )
    public_aliases(
        name = name + "_aliases",
        targets = libraries + others,
    )
