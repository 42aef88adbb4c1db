"""Measuring memory as a build action: the rule `memory_profile`."""

load("//tools/build_defs:without_sanitizers.bzl", "FLAG_LISTS", "SANITIZER_FLAGS", "flags_without")
load(":test_program.bzl", "TestProgramInfo", "test_environment", "test_program_aspect")

MemoryProfileInfo = provider(
    doc = "What one `memory_profile` measured.",
    fields = {
        "label": "Canonical label of what was measured, \"//package:target\", without a repository prefix.",
        "profile": "File: the MemoryProfile, the same bytes for the same code.",
        "sampler": "struct(script, runfiles): a program that measures again, from a folder of runfiles; its arguments are --process_count, --output and --samples_output of the runner. None: it cannot be measured again.",
        "samples": "File: the MemorySamples, what varied between the processes. None: there are none.",
        "whole_process": "struct(profile, samples): Files of the whole process, measured from outside. None: it was not.",
    },
)

_OPTION = "//command_line_option:"

# Flags that a sanitizer's or a debugger's configuration adds, and those that
# would make the measured binary another one than is deployed.
_UNWANTED_FLAGS = SANITIZER_FLAGS + ["-O0", "-O1", "-Og"]

def _measured_configuration_impl(settings, _attr):
    changed = {
        name: flags_without(settings[name], _UNWANTED_FLAGS)
        for name in FLAG_LISTS
    }
    changed[_OPTION + "compilation_mode"] = "opt"
    changed[_OPTION + "collect_code_coverage"] = False
    return changed

# Bytes are those of the optimised binary, whatever the command line says.
_measured_configuration = transition(
    implementation = _measured_configuration_impl,
    inputs = FLAG_LISTS,
    outputs = FLAG_LISTS + [
        _OPTION + "collect_code_coverage",
        _OPTION + "compilation_mode",
    ],
)

def _canonical_label(label):
    """ "//package:target", whatever repository the label is seen from."""
    return "//%s:%s" % (label.package, label.name)

def _name_in_repository(file):
    """The path of `file` from its repository's top, generated or not."""
    path = file.short_path
    return path.split("/", 2)[2] if path.startswith("../") else path

def _linked_files(ctx, runfiles):
    """Name -> file: what the measured program finds in its folder."""
    linked = {_name_in_repository(file): file for file in runfiles}
    named = {}
    for target, name in ctx.attr.data.items():
        files = target[DefaultInfo].files.to_list()
        if name and len(files) != 1:
            fail("data %s is %d files, so it cannot be named \"%s\"" % (target.label, len(files), name))
        for file in files:
            own_name = name or _name_in_repository(file)
            if named.get(own_name, file) != file:
                fail("two data files are named \"%s\": give one of them another name" % own_name)
            named[own_name] = file
    linked.update(named)
    return linked

def _runfiles_name(ctx, file):
    """The path of `file` below the folder of a program's runfiles."""
    path = file.short_path
    return path[3:] if path.startswith("../") else ctx.workspace_name + "/" + path

def _program_runfiles(ctx, runfiles):
    """The files that a program finds at run time, each with its name below the folder of runfiles."""
    entries = [
        struct(file = file, name = _runfiles_name(ctx, file))
        for file in runfiles.files.to_list()
    ] + [
        struct(file = link.target_file, name = ctx.workspace_name + "/" + link.path)
        for link in runfiles.symlinks.to_list()
    ] + [
        struct(file = link.target_file, name = link.path)
        for link in runfiles.root_symlinks.to_list()
    ]

    # Such as the __init__.py that Bazel puts into a folder of Python's.
    empty_names = runfiles.empty_filenames.to_list()
    if empty_names:
        empty = ctx.actions.declare_file(ctx.label.name + ".empty")
        ctx.actions.write(empty, "")
        entries += [
            struct(file = empty, name = name[3:] if name.startswith("../") else ctx.workspace_name + "/" + name)
            for name in empty_names
        ]
    return entries

def _setting(ctx, target):
    """Arguments, environment and place of the program, as flags of the runner."""
    info = target[TestProgramInfo] if ctx.attr.program and TestProgramInfo in target else None
    given = ctx.attr.env if ctx.attr.has_env else None
    if not info or not info.is_test:
        return struct(
            arguments = ctx.attr.args,
            flags = ["--environment=%s=%s" % variable for variable in (given or {}).items()],
        )
    if ctx.attr.data:
        fail("%s is a test, which opens its files where its runfiles are; name them in its own `data`" % target.label)
    variables = test_environment(target.label, info, given)
    executable = target[DefaultInfo].files_to_run.executable
    return struct(
        arguments = info.arguments + ctx.attr.args,
        flags = [
            "--test_workspace=" + ctx.workspace_name,
            "--test_path=" + _runfiles_name(ctx, executable),
        ] + ["--environment=%s=%s" % variable for variable in variables.items()],
    )

_SAMPLER = """\
#!/usr/bin/env bash
# Written by profiling/defs.bzl: measures {label} again, in a folder of runfiles.
exec {runner} {flags} "$@" -- {program}
"""

def _quote(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _sampler(ctx, label, target, linked, runfiles, setting):
    """What a test needs to take samples of its own."""
    program = target[DefaultInfo].files_to_run.executable
    flags = ["--label=" + label, "--timeout_seconds=%d" % ctx.attr.timeout_seconds] + setting.flags
    for name, file in linked.items():
        flags += ["--data=" + file.short_path, "--as=" + name]
    needed = ctx.runfiles(files = linked.values() + [program])
    needed = needed.merge(ctx.runfiles(files = [entry.file for entry in runfiles]))
    needed = needed.merge(target[DefaultInfo].default_runfiles)
    needed = needed.merge(ctx.attr._runner[DefaultInfo].default_runfiles)
    if ctx.attr.program:
        flags.append("--memprof=" + ctx.executable.memprof.short_path)
        needed = needed.merge(ctx.attr.memprof[DefaultInfo].default_runfiles)
        for entry in runfiles:
            flags += ["--runfile=" + entry.file.short_path, "--as=" + entry.name]
    script = ctx.actions.declare_file(ctx.label.name + ".sampler.sh")
    ctx.actions.write(script, _SAMPLER.format(
        flags = " ".join([_quote(flag) for flag in flags]),
        label = label,
        program = " ".join([_quote(word) for word in [program.short_path] + setting.arguments]),
        runner = _quote(ctx.executable._runner.short_path),
    ), is_executable = True)
    return struct(script = script, runfiles = needed.merge(ctx.runfiles(files = [script])))

def _runner_arguments(ctx, label, whole_process, profile, samples, process_count, linked, setting):
    """The runner's own arguments, up to what a `program` needs besides."""
    arguments = ctx.actions.args()
    arguments.add(label, format = "--label=%s")
    if whole_process:
        arguments.add(whole_process, format = "--whole_process=%s")
    arguments.add(profile, format = "--output=%s")
    arguments.add(samples, format = "--samples_output=%s")
    arguments.add(str(process_count), format = "--process_count=%s")
    arguments.add(str(ctx.attr.timeout_seconds), format = "--timeout_seconds=%s")
    arguments.add_all(setting.flags)
    for name, file in linked.items():
        arguments.add(file, format = "--data=%s")
        arguments.add(name, format = "--as=%s")
    return arguments

def _add_program(arguments, executable, runfiles):
    """Adds the program that is run, behind its run-time files."""
    for entry in runfiles:
        arguments.add(entry.file, format = "--runfile=%s")
        arguments.add(entry.name, format = "--as=%s")
    arguments.add("--")
    arguments.add(executable)

def _measure_whole_process(ctx, label, executable, linked, runfiles, setting, tools):
    """The action that measures from outside, without any flag of ours.

    Its figures are true for this machine only: its key has the machine's
    fingerprint, and it neither runs elsewhere nor comes from elsewhere. It is not
    in Bazel's sandbox, where no control group can be made.
    """
    profile = ctx.actions.declare_file(ctx.label.name + ".whole_process.profile.binpb")
    samples = ctx.actions.declare_file(ctx.label.name + ".whole_process.samples.binpb")
    arguments = _runner_arguments(
        ctx,
        label,
        ctx.label.name,
        profile,
        samples,
        ctx.attr.whole_process_count,
        linked,
        setting,
    )
    if ctx.attr.program:
        arguments.add("--copy_program=yes")
    _add_program(arguments, executable, runfiles)
    ctx.actions.run(
        outputs = [profile, samples],
        inputs = depset(linked.values() + [entry.file for entry in runfiles] + [ctx.file._machine]),
        tools = tools,
        executable = ctx.executable._runner,
        arguments = [arguments] + (setting.arguments + ctx.attr.whole_process_args),
        env = {"FOOTPRINT_MEASUREMENT": ctx.var.get("FOOTPRINT_MEASUREMENT", "")},
        execution_requirements = {
            "no-remote": "1",
            "no-sandbox": "1",
        },
        mnemonic = "WholeProcessMemory",
        progress_message = "Measuring the whole process of %s" % label,
    )
    return struct(profile = profile, samples = samples)

def _memory_profile_impl(ctx):
    # An attribute with a transition is a list, of one here.
    target = (ctx.attr.benchmark or ctx.attr.program)[0]
    benchmark = target[DefaultInfo]
    executable = benchmark.files_to_run.executable
    is_as_it_is = bool(ctx.attr.program)
    runfiles = benchmark.default_runfiles.files.to_list()
    program_runfiles = _program_runfiles(ctx, benchmark.default_runfiles) if is_as_it_is else []
    setting = _setting(ctx, target)
    linked = _linked_files(ctx, [] if is_as_it_is else [
        file
        for file in runfiles
        if file != executable
    ])
    label = _canonical_label(target.label)
    profile = ctx.actions.declare_file(ctx.label.name + ".profile.binpb")
    samples = ctx.actions.declare_file(ctx.label.name + ".samples.binpb")

    arguments = _runner_arguments(ctx, label, None, profile, samples, ctx.attr.process_count, linked, setting)
    tools = [benchmark.files_to_run]
    if is_as_it_is:
        arguments.add(ctx.executable.memprof, format = "--memprof=%s")
        if ctx.attr.sites:
            arguments.add("--sites=yes")
        tools.append(ctx.attr.memprof[DefaultInfo].files_to_run)
    _add_program(arguments, executable, program_runfiles)

    ctx.actions.run(
        outputs = [profile, samples],
        inputs = depset(linked.values() + [entry.file for entry in program_runfiles] + [ctx.file._system]),
        tools = tools,
        executable = ctx.executable._runner,
        arguments = [arguments] + setting.arguments,
        # Part of the action's key. A define, since a build setting would give the
        # measured program another output folder, and so build it again.
        env = {"FOOTPRINT_MEASUREMENT": ctx.var.get("FOOTPRINT_MEASUREMENT", "")},
        mnemonic = "MemoryProfile",
        progress_message = "Measuring memory of %s" % label,
    )
    whole_process = _measure_whole_process(
        ctx,
        label,
        executable,
        linked,
        program_runfiles,
        setting,
        [benchmark.files_to_run],
    )
    outputs = depset([profile])
    return [
        DefaultInfo(files = outputs, runfiles = ctx.runfiles(files = [profile])),
        OutputGroupInfo(
            samples = depset([samples]),
            whole_process = depset([whole_process.profile, whole_process.samples]),
        ),
        MemoryProfileInfo(
            label = label,
            profile = profile,
            sampler = _sampler(ctx, label, target, linked, program_runfiles, setting),
            samples = samples,
            whole_process = whole_process,
        ),
    ]

_memory_profile = rule(
    implementation = _memory_profile_impl,
    attrs = {
        "args": attr.string_list(),
        "benchmark": attr.label(
            executable = True,
            cfg = _measured_configuration,
        ),
        # Only where there is a `program`, so that nobody else builds it.
        "memprof": attr.label(
            executable = True,
            cfg = "exec",
        ),
        "program": attr.label(
            aspects = [test_program_aspect],
            executable = True,
            cfg = _measured_configuration,
        ),
        "data": attr.label_keyed_string_dict(allow_files = True),
        "env": attr.string_dict(),
        # A macro can tell an empty dictionary from none, a rule cannot.
        "has_env": attr.bool(),
        "process_count": attr.int(default = 3),
        "sites": attr.bool(),
        "timeout_seconds": attr.int(default = 300),
        "whole_process_args": attr.string_list(),
        "whole_process_count": attr.int(default = 3),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_machine": attr.label(
            default = "@footprint_machine//:fingerprint.txt",
            allow_single_file = True,
        ),
        "_system": attr.label(
            default = "@footprint_system//:fingerprint.txt",
            allow_single_file = True,
        ),
        "_runner": attr.label(
            default = Label("@footprint_programs//:profile_runner"),
            executable = True,
            cfg = "exec",
        ),
    },
    doc = "See the macro `memory_profile`.",
)

def memory_profile(
        name,
        benchmark = None,
        program = None,
        args = [],
        data = {},
        env = None,
        process_count = 3,
        sites = False,
        timeout_seconds = 300,
        whole_process_args = [],
        whole_process_count = 3,
        tags = [],
        **kwargs):
    """Measures the memory of a program and keeps the profile as a build output.

    The program runs `process_count` times, in fresh processes that differ in
    address-space layout and size of the environment; `//profiling:benchmark_main`
    starts one for each benchmark in turn. Figures that repeat bit
    for bit are EXACT; the others are named. A program that crashes, hangs or writes no profile
    gives a profile that says so, and the build goes on: a gate reports it.

    The program is always built `-c opt`, without sanitizers and coverage, whatever
    the command line says. It writes the files that --memory_profile_out= and
    --memory_samples_out= name; `//profiling:benchmark_main` and
    `//profiling:program_profile` do. It starts in an empty folder of its own that
    holds `data` and the benchmark's own `data`.

    A `program` is measured as it is, by memprof, and need not know of profiles: a
    cc_binary without `exact_heap`, an sh_binary, a py_binary (which under Bazel 4.2.3
    starts `python`; an sh_binary that calls /usr/bin/python3 needs no such name). Its
    stages are the phases. Hash seed and number of BLAS's threads are set, as the profile's remarks
    say; what repeats is EXACT, and what does not is there as STATISTICAL or BOUNDED,
    the highest of all processes, which limits judge and exact values refuse. It
    starts in a folder that holds `data`, a copy of it, and copies of its run-time
    files in NAME.runfiles, which RUNFILES_DIR names.

    A `program` may be a test (cc_test, py_test, sh_test ...). It is run as
    `bazel test` runs it, with the `args`, `data` and `env` of its own rule and
    --test_env=NAME=VALUE of the command line: it starts in its runfiles, and has
    TEST_SRCDIR, TEST_TMPDIR and the like. What its rule does not tell is refused
    until `env` says it: variables that it inherits, its shards, and the
    environment of tests of another rule that has no attribute `env`.
    `timeout_seconds` holds, not the test's own timeout. A py_test of Bazel 4.2.3
    starts `python`: where that is not in /usr/bin, env = {"PATH": ...} says where.

    A machine's need is measured besides: the resident set of the whole
    process, from outside, in runs that have `args` and `whole_process_args` and no
    flag, variable or library of ours. It stands among the benchmarks as
    "whole_process/NAME", and a gate demands a threshold for it.

    To measure again though nothing changed, for instance after the machine ran out
    of memory: `--define=FOOTPRINT_MEASUREMENT=ANY_NEW_TEXT`.

    Args:
      name: of the target. Gives NAME.profile.binpb and, in output group `samples`,
        NAME.samples.binpb; in output group `whole_process`,
        NAME.whole_process.profile.binpb and NAME.whole_process.samples.binpb.
      benchmark: the executable to measure; or
      program: the executable or the test to measure as it is. One of the two.
      args: its arguments; those of a test stand behind its own.
      data: files that it opens: labels, each found under its path in its
        repository, or a dictionary from label to the name by which it is opened.
      env: further variables of a program, which win over those that it has.
      process_count: how many processes must agree; at least 3.
      sites: of a `program`: whether its profile says which functions hold the bytes at
        the peak, and in which lines if it has line numbers (copts = ["-g1"]). It
        then takes up to ten times as long, and figures of the heap are the same.
      timeout_seconds: of each run of the program, with all its benchmarks.
      whole_process_args: further arguments of the runs that are measured from
        outside: a Google Benchmark program runs there for the time that its own
        flags say, "--benchmark_min_time=0.01".
      whole_process_count: how many such runs, of which the highest counts. 1 for a
        program that takes long, and needs nearly the same each time.
      tags: added to "measures_jemalloc", which sanitizer configurations leave out.
      **kwargs: common attributes: testonly, visibility, and so on.
    """
    if process_count < 3:
        fail("memory_profile %s: process_count %d must be at least 3" % (name, process_count))
    if whole_process_count < 1:
        fail("memory_profile %s: whole_process_count %d must be at least 1" % (name, whole_process_count))
    if timeout_seconds < 1:
        fail("memory_profile %s: timeout_seconds %d must be at least 1" % (name, timeout_seconds))
    if (benchmark == None) == (program == None):
        fail("memory_profile %s: give either `benchmark`, which writes its profile by itself, or `program`, which is measured as it is" % name)
    if sites and program == None:
        fail("memory_profile %s: `sites` is for a `program`; a benchmark tells its phases" % name)
    _memory_profile(
        name = name,
        args = args,
        benchmark = benchmark,
        memprof = None if program == None else Label("@footprint_programs//:memprof"),
        program = program,
        data = data if type(data) == type({}) else {label: "" for label in data},
        env = env or {},
        has_env = env != None,
        process_count = process_count,
        sites = sites,
        tags = tags + ["measures_jemalloc"],
        timeout_seconds = timeout_seconds,
        whole_process_args = whole_process_args,
        whole_process_count = whole_process_count,
        **kwargs
    )
