"""A program that was built elsewhere, as an executable target."""

def _prebuilt_program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = ctx.file.src, is_executable = True)
    return [DefaultInfo(
        executable = program,
        files = depset([program]),
        runfiles = ctx.runfiles(files = [program]),
    )]

prebuilt_program = rule(
    implementation = _prebuilt_program_impl,
    attrs = {"src": attr.label(allow_single_file = True, mandatory = True)},
    executable = True,
    doc = "Makes a target that runs the file `src`.",
)
