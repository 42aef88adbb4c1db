"""A program built without sanitizers, whatever the command line says.

A sanitizer's runtime cannot be part of an object that is preloaded into a foreign process, or
linked statically. Targets that use such an object are sanitized as ever.
"""

_OPTION = "//command_line_option:"

# The options that hold the command line's flags for compiler and linker.
FLAG_LISTS = [_OPTION + name for name in ["copt", "conlyopt", "cxxopt", "linkopt"]]

SANITIZER_FLAGS = ["-fsanitize", "-fno-sanitize"]

def flags_without(flags, unwanted):
    """Those of `flags` that begin with none of `unwanted`."""
    return [
        flag
        for flag in flags
        if not [start for start in unwanted if flag.startswith(start)]
    ]

def _impl(settings, _attr):
    return {name: flags_without(settings[name], SANITIZER_FLAGS) for name in FLAG_LISTS}

_without_sanitizers = transition(
    implementation = _impl,
    inputs = FLAG_LISTS,
    outputs = FLAG_LISTS,
)

def _without_sanitizers_impl(ctx):
    # An attribute with a transition is a list, here with one element.
    program = ctx.attr.program[0][DefaultInfo].files_to_run.executable
    ctx.actions.symlink(
        output = ctx.outputs.executable,
        target_file = program,
        is_executable = True,
    )
    return [DefaultInfo(executable = ctx.outputs.executable)]

without_sanitizers = rule(
    implementation = _without_sanitizers_impl,
    attrs = {
        "program": attr.label(
            cfg = _without_sanitizers,
            doc = "A cc_binary that needs no files beside it when it runs.",
            executable = True,
            mandatory = True,
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    doc = "The file of `program` under the name of this target.",
    executable = True,
)
