"""Measurements of other tools, as a memory profile for gates."""

load("//profiling:defs.bzl", "MemoryProfileInfo")

def _imported_memory_profile_impl(ctx):
    profile = ctx.actions.declare_file(ctx.label.name + ".profile.binpb")
    label = "//%s:%s" % (ctx.label.package, ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(label, format = "--label=%s")
    arguments.add(profile, format = "--output=%s")
    if ctx.attr.benchmark:
        arguments.add(ctx.attr.benchmark, format = "--benchmark=%s")
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        outputs = [profile],
        inputs = ctx.files.srcs,
        executable = ctx.executable._import,
        arguments = [arguments],
        mnemonic = "ImportMemoryProfile",
        progress_message = "Importing memory of %s" % label,
    )
    return [
        DefaultInfo(files = depset([profile]), runfiles = ctx.runfiles(files = [profile])),
        MemoryProfileInfo(profile = profile, samples = None, sampler = None, whole_process = None, label = label),
    ]

imported_memory_profile = rule(
    implementation = _imported_memory_profile_impl,
    attrs = {
        "benchmark": attr.string(
            doc = "Name of what was measured, where the tool gives none; else \"whole program\".",
        ),
        "srcs": attr.label_list(
            allow_files = True,
            mandatory = True,
            doc = "Files of one tool; the highest figure of all is taken. See `bazel run //gates:import -- --help`.",
        ),
        "_import": attr.label(
            default = Label("//gates:import_main"),
            executable = True,
            cfg = "exec",
        ),
    },
    doc = "A memory profile of other tools' files, for memory_gate_test. Limits judge it; exact values cannot.",
)
