"""For tests: a memory profile from its text form."""

load("//profiling:defs.bzl", "MemoryProfileInfo")

def _text_profile_impl(ctx):
    profile = ctx.actions.declare_file(ctx.label.name + ".profile.binpb")
    ctx.actions.run(
        outputs = [profile],
        inputs = [ctx.file.src],
        executable = ctx.executable._encode,
        arguments = [ctx.file.src.path, profile.path],
        mnemonic = "EncodeProfile",
    )
    return [
        DefaultInfo(files = depset([profile]), runfiles = ctx.runfiles(files = [profile])),
        MemoryProfileInfo(profile = profile, samples = None, sampler = None, whole_process = None, label = ctx.attr.label),
    ]

text_profile = rule(
    implementation = _text_profile_impl,
    attrs = {
        "label": attr.string(mandatory = True, doc = "As in the profile."),
        "src": attr.label(mandatory = True, allow_single_file = [".textproto"]),
        "_encode": attr.label(
            default = Label("//gates/judge:encode_profile_main"),
            executable = True,
            cfg = "exec",
        ),
    },
    doc = "What memory_profile would give if it had measured the values of a text file.",
)
