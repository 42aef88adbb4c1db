"""A static library with some of its symbols under other names."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "CC_TOOLCHAIN_ATTRS", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _archives(dep, only_own):
    """The position-independent archives of `dep`, else its ordinary ones."""
    archives = []
    for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
        if only_own and linker_input.owner != dep.label:
            continue
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                archives.append(archive)
    return archives

def _rename(ctx, cc_toolchain, archive, index):
    renamed = ctx.actions.declare_file("%s_%d.a" % (ctx.label.name, index))
    ctx.actions.run_shell(
        outputs = [renamed],
        inputs = depset([archive, ctx.file.renames], transitive = [cc_toolchain.all_files]),
        command = " && ".join([
            "%s --redefine-syms=%s %s %s" % (
                cc_toolchain.objcopy_executable,
                ctx.file.renames.path,
                archive.path,
                renamed.path,
            ),
            # An archive of the system is read-only.
            "chmod u+w %s" % renamed.path,
        ] + [
            "%s d %s %s" % (cc_toolchain.ar_executable, renamed.path, member)
            for member in ctx.attr.dropped_members
        ]),
        mnemonic = "RenameSymbols",
        progress_message = "Renaming symbols of %s" % archive.short_path,
    )
    return renamed

def _user_link_flags(dep):
    return [
        flag
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list()
        for flag in linker_input.user_link_flags
    ]

def _renamed_archive_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    libraries = [
        cc_common.create_library_to_link(
            actions = ctx.actions,
            feature_configuration = feature_configuration,
            cc_toolchain = cc_toolchain,
            pic_static_library = _rename(ctx, cc_toolchain, archive, index),
        )
        for index, archive in enumerate(_archives(ctx.attr.dep, ctx.attr.only_own))
    ]
    if not libraries:
        fail("%s has no static archive whose symbols could be renamed" % ctx.attr.dep.label)
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        libraries = depset(libraries),
        user_link_flags = depset(_user_link_flags(ctx.attr.dep)),
    )
    return [
        DefaultInfo(files = depset([library.pic_static_library for library in libraries])),
        CcInfo(linking_context = cc_common.create_linking_context(
            linker_inputs = depset([linker_input]),
        )),
    ]

renamed_archive = rule(
    implementation = _renamed_archive_impl,
    attrs = dict(
        {
            "dep": attr.label(
                mandatory = True,
                providers = [CcInfo],
                doc = "The library; a static archive, from the system or built from source.",
            ),
            "dropped_members": attr.string_list(
                doc = "Object files of the archive that are left out, if it has them.",
            ),
            "only_own": attr.bool(
                doc = "Leave the archives of what the library depends on to others.",
            ),
            "renames": attr.label(
                mandatory = True,
                allow_single_file = True,
                doc = "Lines of \"old_name new_name\", as objcopy --redefine-syms reads them.",
            ),
        },
        **CC_TOOLCHAIN_ATTRS
    ),
    doc = "The same library with symbols renamed, so that other definitions can stand in front of it.",
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
