"""A header that clang has parsed before, for sources that all begin with it.

    precompiled_header(
        name = "test_prelude",
        hdr = "test_prelude.h",
        deps = ["@googletest//:gtest"],
    )
    cc_test(
        name = "one_test",
        copts = precompiled_header_copts("base/testing", "test_prelude"),
        deps = [":test_prelude"],
    )

clang reads the parsed form in place of the header, and refuses it if flags that matter
differ. Nothing is linked. Why: docs/decisions/0070.
"""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "CC_TOOLCHAIN_ATTRS", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# Names of headers are written relative to the folder that clang runs in, so that the
# parsed form can be moved between sandboxes, and without times. Code that each source
# would generate again is generated here.
_PARSE = """
exec "$@" -Xclang -relocatable-pch -Xclang -isysroot -Xclang "$PWD" \\
  -Xclang -fno-pch-timestamp -fpch-instantiate-templates
"""

def precompiled_header_copts(package, name):
    """The options of a source that begins with a precompiled header of this repository.

    Args:
      package: package of the precompiled_header.
      name: its name.

    Returns:
      A list for `copts`; the source's rule depends on the precompiled_header.
    """
    parsed = "$(BINDIR)/%s/%s.pch" % (package, name)
    return ["-Xclang", "-isysroot", "-Xclang", ".", "-include-pch", parsed]

def _parse(ctx, context, parsed):
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
        source_file = ctx.file.hdr.path,
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
    clang = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
    )
    ctx.actions.run_shell(
        command = _PARSE,
        arguments = [clang, "-x", "c++-header"] + flags,
        inputs = depset([ctx.file.hdr], transitive = [context.headers, toolchain.all_files]),
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
    parsed = ctx.actions.declare_file(ctx.label.name + ".pch")
    of_deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    _parse(ctx, of_deps.compilation_context, parsed)
    own = cc_common.create_compilation_context(headers = depset([ctx.file.hdr, parsed]))
    return [
        DefaultInfo(files = depset([parsed])),
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
