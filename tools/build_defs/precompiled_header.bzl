"""A header that the compiler has parsed before, for sources that all begin with it.

    precompiled_header(
        name = "test_prelude",
        hdr = "test_prelude.h",
        deps = ["@googletest//:gtest"],
    )
    cc_test(
        name = "one_test",
        copts = ["-include", "footprint/base/testing/test_prelude.h"],
        deps = [":test_prelude"],
    )

gcc takes the parsed form where it finds it beside the header and all flags that matter
are the same, else the header itself: whoever depends on this compiles either way, and
tests what it would without. Nothing is linked. Why: docs/decisions/0048.
"""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "CC_TOOLCHAIN_ATTRS", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# gcc lists the header as a dependency of a source, but neither the parsed form
# nor the header's own includes. So the header contains their names, since
# otherwise a source would not be rebuilt when gMock changes.
_NAME_CONTENT = """
set -euo pipefail
{
  cat "$1"
  printf '\\n// SHA-256 of all that it may include: '
  xargs cat <"$2" | sha256sum
} >"$3"
"""

def _name_content(ctx, context, header):
    included = ctx.actions.args()
    included.set_param_file_format("multiline")
    included.use_param_file("%s", use_always = True)
    included.add_all(context.headers)
    ctx.actions.run_shell(
        command = _NAME_CONTENT,
        arguments = [ctx.file.hdr.path, included, header.path],
        inputs = depset([ctx.file.hdr], transitive = [context.headers]),
        outputs = [header],
        mnemonic = "NameContent",
        progress_message = "Naming what %s includes" % ctx.file.hdr.short_path,
    )

def _parse(ctx, header, context, parsed):
    toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = parsed.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        # The sources of a test are compiled like this.
        use_pic = ctx.var["COMPILATION_MODE"] != "opt",
    )
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = variables,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = ["-x", "c++-header"] + flags,
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [parsed],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        mnemonic = "CppPrecompile",
        progress_message = "Parsing %s" % ctx.file.hdr.short_path,
    )

def _precompiled_header_impl(ctx):
    folder = ctx.label.name + "_include"
    path = "%s/footprint/%s/%s" % (folder, ctx.label.package, ctx.file.hdr.basename)
    header = ctx.actions.declare_file(path)
    parsed = ctx.actions.declare_file(path + ".gch")
    of_deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    _name_content(ctx, of_deps.compilation_context, header)
    _parse(ctx, header, of_deps.compilation_context, parsed)
    own = cc_common.create_compilation_context(
        headers = depset([header, parsed]),
        includes = depset([header.path[:header.path.index(folder) + len(folder)]]),
    )
    return [
        DefaultInfo(files = depset([header, parsed])),
        cc_common.merge_cc_infos(cc_infos = [
            CcInfo(compilation_context = own),
            CcInfo(compilation_context = of_deps.compilation_context),
        ]),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = dict(
        {
            "hdr": attr.label(
                allow_single_file = [".h"],
                doc = "Included as footprint/<package>/<its name>.",
                mandatory = True,
            ),
            "deps": attr.label_list(
                doc = "Whose headers it includes.",
                providers = [CcInfo],
            ),
        },
        **CC_TOOLCHAIN_ATTRS
    ),
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
