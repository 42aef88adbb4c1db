"""Repositories that hand Bazel 4's built-in rules out under their newer labels."""

def _native_rules_repository_impl(repository_ctx):
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name)
    package = repository_ctx.attr.package
    exports = ["%s = native.%s" % (rule, rule) for rule in repository_ctx.attr.rules]
    exports += ["%s = %s" % (name, name) for name in repository_ctx.attr.globals]
    header = "\"\"\"Bazel 4's built-in, under the label that newer Bazels load it by.\"\"\"\n\n"
    repository_ctx.file(package + "/BUILD.bazel", repository_ctx.attr.build_file_content)
    repository_ctx.file(package + "/defs.bzl", header + "\n".join(exports) + "\n")
    for rule in repository_ctx.attr.rules:
        repository_ctx.file(
            "%s/%s.bzl" % (package, rule),
            header + "%s = native.%s\n" % (rule, rule),
        )
    for path, content in repository_ctx.attr.extra_files.items():
        repository_ctx.file(path, content)

native_rules_repository = repository_rule(
    implementation = _native_rules_repository_impl,
    attrs = {
        "build_file_content": attr.string(
            doc = "Content of the package's BUILD file.",
        ),
        "extra_files": attr.string_dict(doc = "Path -> content."),
        "globals": attr.string_list(
            doc = "Built-in values, such as providers, that defs.bzl also exports.",
        ),
        "package": attr.string(mandatory = True, doc = "The package of the rules."),
        "rules": attr.string_list(
            doc = "Built-in rules, each with a file RULE.bzl of its own and in defs.bzl.",
        ),
    },
    doc = "A rules_* module made of the rules that Bazel 4 has built in.",
    local = True,
)
