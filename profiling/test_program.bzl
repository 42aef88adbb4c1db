"""How Bazel would run a test: what `memory_profile` needs to run it likewise."""

TestProgramInfo = provider(
    doc = "The arguments and the environment of an executable target, as its rule gives them.",
    fields = {
        "arguments": "Words of the target's `args`, expanded as Bazel expands them.",
        "environment": "Dictionary of the target's `env`, expanded; None: its rule does not tell its environment.",
        "inherited": "Names of variables that the target takes from whoever calls Bazel (`env_inherit`).",
        "is_test": "Whether the target is a test.",
        "kind": "Name of the target's rule, such as \"py_test\".",
        "shard_count": "Processes among which Bazel divides the test's cases; 1: it does not.",
        "size": "The test's size, such as \"small\".",
    },
)

def split_words(text):
    """The words of a text, as a shell splits and unquotes them without expanding anything.

    Args:
      text: of an element of `args`.

    Returns:
      A list of words.
    """
    words = []
    word = None  # begun, if it is a text
    quote = ""
    is_escaped = False
    for character in text.elems():
        if is_escaped:
            # Within double quotes a backslash stays, but before these.
            kept = "" if not quote or character in "\"\\$`" else "\\"
            word = (word or "") + kept + character
            is_escaped = False
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            if character == quote:
                quote = ""
            else:
                word += character
        elif character in "\"'":
            quote = character
            word = word or ""
        elif character in " \t\n":
            if word != None:
                words.append(word)
            word = None
        else:
            word = (word or "") + character
    if quote or is_escaped:
        fail("the argument %r has a quote without its end" % text)
    return words + ([] if word == None else [word])

def _labels_of(target, attributes):
    """All targets that an attribute of the rule names, for $(location)."""
    named = {target.label: target}
    for name in dir(attributes):
        value = getattr(attributes, name, None)
        for each in value if type(value) == "list" else []:
            if type(each) == "Target":
                named[each.label] = each
    return named.values()

def _expand(ctx, targets, attribute, text):
    """An element of `args` or a value of `env`, in which a location is a path of the runfiles."""
    paths = text.replace("$(location ", "$(rootpath ").replace("$(locations ", "$(rootpaths ")
    return ctx.expand_make_variables(attribute, ctx.expand_location(paths, targets), {})

def _test_program_impl(target, ctx):
    attributes = ctx.rule.attr
    kind = ctx.rule.kind
    if not kind.endswith("_test"):
        return [TestProgramInfo(arguments = [], environment = {}, inherited = [], is_test = False, kind = kind, shard_count = 1, size = "")]
    targets = _labels_of(target, attributes)
    words = []
    for text in getattr(attributes, "args", []):
        words += split_words(_expand(ctx, targets, "args", text))
    environment = getattr(attributes, "env", None)
    if type(environment) == "dict":
        environment = {name: _expand(ctx, targets, "env", text) for name, text in environment.items()}
    return [TestProgramInfo(
        arguments = words,
        # Flags of the command line, --test_env=NAME=VALUE; the rule's own win.
        environment = None if environment == None else dict(ctx.configuration.test_env, **environment),
        inherited = getattr(attributes, "env_inherit", None) or [],
        is_test = True,
        kind = kind,
        shard_count = max(1, getattr(attributes, "shard_count", 1)),
        size = getattr(attributes, "size", ""),
    )]

# Bazel hands a rule the files of a test, and only an aspect its attributes.
test_program_aspect = aspect(implementation = _test_program_impl)

def _refuse(label, info, environment):
    """Fails with what the rule cannot know, unless `environment` says it."""
    if info.environment == None and environment == None:
        fail("%s is a %s, whose rule does not tell the environment of its tests; give env = {...}, which may be empty" % (label, info.kind))
    given = environment or {}
    for name in info.inherited:
        if name not in given:
            fail("%s inherits the variable %s from whoever calls Bazel, and a measurement must be the same for all; give env = {\"%s\": ...}" % (label, name, name))
    if info.shard_count > 1 and "TEST_TOTAL_SHARDS" not in given:
        fail(("%s has shard_count = %d; give env = {\"TEST_TOTAL_SHARDS\": \"1\"} to measure all cases in one process, " +
              "or {\"TEST_SHARD_INDEX\": \"0\", \"TEST_TOTAL_SHARDS\": \"%d\"} for one shard") % (label, info.shard_count, info.shard_count))

# Names that frameworks read for the variables of sharding.
_ALSO_KNOWN_AS = {
    "TEST_SHARD_INDEX": "GTEST_SHARD_INDEX",
    "TEST_TOTAL_SHARDS": "GTEST_TOTAL_SHARDS",
}

def _target_of(label):
    """The label of a test as Bazel tells it to the test, with the repository of another one."""
    if not label.workspace_name:
        return "//%s:%s" % (label.package, label.name)

    # Since Bazel 6 it is the canonical name, which two @ precede.
    at = "@@" if str(label).startswith("@@") else "@"
    return "%s%s//%s:%s" % (at, label.workspace_name, label.package, label.name)

def test_environment(label, info, environment):
    """The variables of a test, beside those that name folders of the run.

    Args:
      label: of the test.
      info: its TestProgramInfo.
      environment: further variables, which win; None: there are none.

    Returns:
      A dictionary.
    """
    _refuse(label, info, environment)
    variables = {
        "BAZEL_TEST": "1",
        "TEST_BINARY": "/".join([each for each in [label.workspace_root, label.package, label.name] if each]),
        "TEST_SIZE": info.size,
        "TEST_TARGET": _target_of(label),
    }
    variables.update(info.environment or {})
    variables.update(environment or {})
    for name, other in _ALSO_KNOWN_AS.items():
        if name in variables:
            variables[other] = variables[name]
    return variables
