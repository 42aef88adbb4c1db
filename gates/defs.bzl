"""Gates over measured memory. One macro is enough to begin with:

    load("@footprint//gates:defs.bzl", "memory_gate")

    memory_gate(
        name = "load",
        benchmark = ":load_benchmark",
    )

It is made of a memory_profile and a `memory_gate_test`, which can be used by
themselves; `memory_gate_suite` judges many profiles together. See
gates/README.md for the threshold file and the exit status.
"""

load("//profiling:defs.bzl", "MemoryProfileInfo", "memory_profile")
load(":imported_profile.bzl", _imported_memory_profile = "imported_memory_profile")

imported_memory_profile = _imported_memory_profile

_LAUNCHER = """\
#!/usr/bin/env bash
# Written by gates/defs.bzl: runs {program} where its files are.
set -euo pipefail
export BUILD_WORKING_DIRECTORY="${{BUILD_WORKING_DIRECTORY:-$PWD}}"
export FOOTPRINT_GATE_TARGETS={targets}
if [[ -n "${{TEST_SRCDIR:-}}" && -d "$TEST_SRCDIR/{workspace}" ]]; then
  cd "$TEST_SRCDIR/{workspace}"
elif [[ -d "$0.runfiles/{workspace}" ]]; then
  cd "$0.runfiles/{workspace}"
elif [[ ! -e {manifest} ]]; then
  echo "$0: its runfiles are missing; use bazel run" >&2
  exit 2
fi
{run}
"""

_JUDGE = "exec {program} --manifest={manifest} {flags} \"$@\""

# Until the rules over samples are decided: 9, 30 and 59 runs in all.
_SAMPLE_AND_JUDGE = """\
# Takes samples until they decide, at most 59: see gates/statistics.
folder=$(mktemp -d "${{TEST_TMPDIR:-${{TMPDIR:-/tmp}}}}/samples.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cp {manifest} "$folder/manifest"
chmod u+w "$folder/manifest"
sample() {{
  "$3" --process_count="$1" --output="$folder/profile" --samples_output="$folder/samples.$1.$4"
  printf 'samples\\t%s\\t%s\\n' "$folder/samples.$1.$4" "$2" >>"$folder/manifest"
}}
status=4
for runs in {looks}; do
  {samplers}
  status=0
  {program} --manifest="$folder/manifest" {flags} "$@" || status=$?
  ((status == 4)) || break  # 4: inconclusive
done
exit "$status"
"""

# Runs that each look of gates/statistics adds.
_LOOKS = [9, 21, 29]

def _quote(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _samplers(infos):
    """The samplers of profiles, a line of shell each."""
    lines = []
    for i, info in enumerate(infos):
        if not info.sampler:
            fail("%s was not measured here, so it cannot be sampled" % info.label)
        lines.append("sample \"$runs\" %s %s %d" % (_quote(info.label), _quote(info.sampler.script.short_path), i))
    return "\n  ".join(lines)

def _gate_impl(ctx, profiles, flags, is_sampled = False, data = [], runfiles = []):
    """The launcher of `_program` over a manifest of profiles and thresholds.

    Args:
      ctx: of the rule.
      profiles: targets with MemoryProfileInfo.
      flags: of the program.
      is_sampled: whether to take samples until rules over them are decided,
        instead of those that were taken with the profiles.
      data: more files that the program opens.
      runfiles: of programs that the program runs.

    Returns:
      The providers of an executable rule.
    """
    infos = [profile[MemoryProfileInfo] for profile in profiles]
    samples = [] if is_sampled else [info for info in infos if info.samples]
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    whole = [info for info in infos if info.whole_process]
    ctx.actions.write(manifest, "".join([
        "profile\t%s\t%s\n" % (info.profile.short_path, info.label) + (
            "whole_process\t%s\t%s\n" % (info.whole_process.profile.short_path, info.label) if info.whole_process else ""
        )
        for info in infos
    ] + [
        "thresholds\t%s\n" % file.short_path
        for file in ctx.files.thresholds
    ] + [
        "samples\t%s\t%s\n" % (info.samples.short_path, info.label)
        for info in samples
    ] + [
        "samples\t%s\t%s\n" % (info.whole_process.samples.short_path, info.label)
        for info in whole
    ]))
    program = (getattr(ctx.attr, "program", None) or ctx.attr._program)[DefaultInfo]
    launcher = ctx.actions.declare_file(ctx.label.name)
    manifest_path = _quote(manifest.short_path)
    program_path = _quote(program.files_to_run.executable.short_path)
    run = (_SAMPLE_AND_JUDGE if is_sampled else _JUDGE).format(
        flags = " ".join([_quote(flag) for flag in flags]),
        looks = " ".join([str(runs) for runs in _LOOKS]),
        manifest = manifest_path,
        program = program_path,
        samplers = _samplers(infos) if is_sampled else "",
    )
    ctx.actions.write(launcher, _LAUNCHER.format(
        manifest = manifest_path,
        program = program_path,
        run = run,
        targets = _quote(",".join([
            "%s=%s" % target
            for target in sorted(ctx.attr.targets.items())
        ])),
        workspace = ctx.workspace_name,
    ), is_executable = True)
    all_runfiles = ctx.runfiles(
        files = [manifest] + ctx.files.thresholds + data +
                [info.profile for info in infos] + [info.samples for info in samples] +
                [info.whole_process.profile for info in whole] +
                [info.whole_process.samples for info in whole],
    ).merge(program.default_runfiles)
    for needed in runfiles + ([info.sampler.runfiles for info in infos] if is_sampled else []):
        all_runfiles = all_runfiles.merge(needed)
    return [DefaultInfo(executable = launcher, runfiles = all_runfiles)]

def _test_impl(ctx):
    return _gate_impl(
        ctx,
        ctx.attr.profiles,
        ["--update_target=" + ctx.attr.update_target],
        is_sampled = ctx.attr.sampled,
    )

def _fit_impl(ctx):
    return _gate_impl(
        ctx,
        ctx.attr.profiles,
        ["--fleet=" + ctx.file.fleet.short_path],
        data = [ctx.file.fleet],
    )

def _check_impl(ctx):
    return _gate_impl(ctx, ctx.attr.profiles, [
        "--complete",
        "--update_target=" + ctx.attr.update_target,
    ])

# The suffix of measured_binary's second program, in profiling/regressions.
_WITH_REGRESSIONS = "_with_regressions"

def _selftest_impl(ctx):
    infos = [producer[MemoryProfileInfo] for producer in ctx.attr.producers]
    for info in infos:
        if not info.label.endswith(_WITH_REGRESSIONS):
            fail("%s is not a program into which regressions can be planted; measured_binary makes one" % info.label)
    return _gate_impl(
        ctx,
        ctx.attr.profiles,
        [
            "--producer=%s=%s" % (
                info.label[:-len(_WITH_REGRESSIONS)],
                info.sampler.script.short_path,
            )
            for info in infos
        ],
        runfiles = [info.sampler.runfiles for info in infos],
    )

def _update_impl(ctx):
    return _gate_impl(ctx, ctx.attr.profiles, [
        "--update_target=//%s:%s" % (ctx.label.package, ctx.label.name),
    ] + (["--first_file=" + ctx.attr.first_file] if ctx.attr.first_file else []))

# gates/commands/gate_targets.h reads them.
_TARGETS = attr.string_dict(
    doc = "From the names of programs to the targets that run them, for messages.",
)

def _attributes(program, **kwargs):
    return dict(
        targets = _TARGETS,
        thresholds = attr.label_list(
            allow_files = [".textproto"],
            doc = "Threshold files; see gates/README.md.",
        ),
        _program = attr.label(
            default = Label(program),
            executable = True,
            cfg = "target",
        ),
        **kwargs
    )

# Programs over a suite that change nothing, by name.
_READING_PROGRAMS = {
    "audit": Label("@footprint_programs//:audit_main"),
    "compare": Label("@footprint_programs//:compare_main"),
    "diff": Label("@footprint_programs//:diff_main"),
    "explain": Label("@footprint_programs//:explain_main"),
    "history": Label("@footprint_programs//:history_main"),
    "report": Label("@footprint_programs//:report_main"),
}

_PROFILES = attr.label_list(
    providers = [MemoryProfileInfo],
    doc = "memory_profile targets.",
)

_memory_fleet_fit = rule(
    implementation = _fit_impl,
    attrs = _attributes(
        "@footprint_programs//:fit_main",
        fleet = attr.label(allow_single_file = [".textproto"], mandatory = True),
        profiles = _PROFILES,
    ),
    executable = True,
    doc = "See the macro `memory_fleet_fit`.",
)

_memory_gate_test = rule(
    implementation = _test_impl,
    attrs = _attributes(
        "@footprint_programs//:check_main",
        profiles = _PROFILES,
        sampled = attr.bool(),
        update_target = attr.string(),
    ),
    test = True,
    doc = "See the macro `memory_gate_test`.",
)

_memory_gate_check = rule(
    implementation = _check_impl,
    attrs = _attributes(
        "@footprint_programs//:check_main",
        profiles = _PROFILES,
        update_target = attr.string(),
    ),
    executable = True,
    doc = "See the macro `memory_gate_suite`.",
)

_memory_gate_selftest = rule(
    implementation = _selftest_impl,
    attrs = _attributes(
        "//gates:selftest_main",
        producers = _PROFILES,
        profiles = _PROFILES,
    ),
    executable = True,
    doc = "See the macro `memory_gate_selftest`.",
)

_memory_gate_update = rule(
    implementation = _update_impl,
    attrs = _attributes(
        "@footprint_programs//:update_main",
        first_file = attr.string(
            doc = "The threshold file to write where the gate has none.",
        ),
        profiles = _PROFILES,
    ),
    executable = True,
    doc = "See the macro `memory_gate_suite`.",
)

_memory_gate_program = rule(
    implementation = _check_impl,
    attrs = dict(
        targets = _TARGETS,
        thresholds = attr.label_list(allow_files = [".textproto"]),
        profiles = _PROFILES,
        update_target = attr.string(),
        program = attr.label(
            executable = True,
            cfg = "target",
        ),
    ),
    executable = True,
    doc = "See the macro `memory_gate_suite`.",
)

# As memory_profile: sanitizer configurations leave them out.
_MEASURED_TAGS = ["measures_jemalloc"]

def _target(name):
    """The label to type for a target of the calling package."""
    return name if name.startswith("//") or name.startswith("@") else "//%s:%s" % (native.package_name(), name.lstrip(":"))

# Other tests would be in the samples, and these are true for this machine only: they run
# nowhere else and come from nowhere else.
_SAMPLED_TAGS = ["exclusive", "no-remote"]

def _reading_programs(names, profiles, thresholds, targets, tags, **kwargs):
    """Makes the programs that change nothing.

    Args:
      names: from what they do ("audit", "compare", "diff", "explain", "history", "report") to
        the names of their targets.
      profiles: memory_profile targets.
      thresholds: threshold files.
      targets: from names of programs to targets, for messages.
      tags: of all of them.
      **kwargs: common attributes.
    """
    for program, target in names.items():
        _memory_gate_program(
            name = target,
            profiles = profiles,
            program = _READING_PROGRAMS[program],
            tags = tags,
            targets = targets,
            thresholds = thresholds,
            update_target = targets["update"],
            **kwargs
        )

def memory_gate(
        name,
        benchmark = None,
        program = None,
        thresholds = None,
        args = [],
        data = {},
        tags = [],
        visibility = None,
        profile_options = {},
        **kwargs):
    """Measures a program and judges its memory: all that a first gate needs.

        bazel run :NAME.update   # writes NAME_thresholds.textproto the first time
        bazel test :NAME         # passes while the program keeps within it
        bazel run :NAME.explain  # why the limits are what they are
        bazel run :NAME.report   # writes a page, memory_gates.html
        bazel run :NAME.diff -- --save=FOLDER   # and later -- FOLDER
        bazel run :NAME.compare -- --base=origin/main   # what needs more since
        bazel run :NAME.history -- record --store=FOLDER   # and page: the trend

    The first update writes the figures of this machine: exact values where
    every run agrees, and limits with room where runs differ. Check the file in.

    Args:
      name: of the test. NAME_profile is the memory_profile.
      benchmark: a Google Benchmark program that is linked with
        //profiling:exact_heap and //profiling:benchmark_main; or
      program: any program or test, which is measured as it is. One of the two.
      thresholds: threshold files. By default NAME_thresholds.textproto, which may
        not be there yet.
      args: arguments of the program.
      data: files that it opens; see memory_profile.
      tags: of all targets, as usual.
      visibility: of all targets, as usual.
      profile_options: further arguments of memory_profile by name, such as
        {"timeout_seconds": 600}.
      **kwargs: what every test takes: size, timeout, flaky ...
    """
    first_file = None
    if thresholds == None:
        own = name + "_thresholds.textproto"
        thresholds = native.glob([own], allow_empty = True)
        first_file = "/".join([part for part in [native.package_name(), own] if part])
    profile = name + "_profile"
    memory_profile(
        name = profile,
        testonly = True,
        args = args,
        benchmark = benchmark,
        data = data,
        program = program,
        tags = tags,
        visibility = visibility,
        **profile_options
    )
    programs = {program: "%s.%s" % (name, program) for program in _READING_PROGRAMS}
    targets = {"check": _target(name), "update": _target(name + ".update")}
    targets.update({program: _target(target) for program, target in programs.items()})
    common = dict(
        profiles = [profile],
        tags = tags + _MEASURED_TAGS,
        targets = targets,
        thresholds = thresholds,
        visibility = visibility,
    )
    _memory_gate_update(
        name = name + ".update",
        testonly = True,
        first_file = first_file,
        **common
    )
    _reading_programs(programs, testonly = True, **common)
    common["tags"] = common["tags"] + ["memory_gate"]
    _memory_gate_test(
        name = name,
        size = kwargs.pop("size", "small"),
        update_target = targets["update"],
        **dict(common, **kwargs)
    )

def memory_gate_test(name, thresholds, profile = None, profiles = [], update = None, sampled = False, tags = [], **kwargs):
    """A test that passes if a program is within its thresholds.

    The verdict is in test.xml, a case a rule; in test.outputs it is also there as
    text, JSON, JUnit XML, Markdown, SARIF, HTML and more. An edit of a threshold judges again and
    measures nothing.

    Args:
      name: of the test. Unless `update` is given, "NAME.update" is a program that
        brings the thresholds up to date.
      profile: a memory_profile target.
      profiles: instead of `profile`: all the memory_profile targets of a program
        that is measured with several arguments, since a threshold for the program
        that matches none of them is a mistake.
      thresholds: threshold files; only those that say "shared: true" may hold
        thresholds of other programs.
      update: the update program of a memory_gate_suite with the same thresholds.
      sampled: whether the test runs the program, 9, 30 and at last 59 times, until
        the thresholds over samples (budget, regression) are decided. Without it
        they are judged by the samples of the profile's own processes.
      tags: as usual; "memory_gate" and "measures_jemalloc" are added, and of a
        sampled test "exclusive" and "no-remote".
      **kwargs: what every test takes: size, visibility, testonly ...
    """
    if (profile == None) == (not profiles):
        fail("memory_gate_test %s: give either profile or profiles" % name)
    profiles = profiles or [profile]
    if not update:
        update = name + ".update"
        _memory_gate_update(
            name = update,
            profiles = profiles,
            targets = {"check": _target(name), "update": _target(update)},
            thresholds = thresholds,
            tags = tags + _MEASURED_TAGS,
            testonly = True,  # a test may use what is testonly
            visibility = kwargs.get("visibility"),
        )
    _memory_gate_test(
        name = name,
        profiles = profiles,
        sampled = sampled,
        targets = {"check": _target(name), "update": _target(update)},
        thresholds = thresholds,
        update_target = _target(update),
        tags = tags + _MEASURED_TAGS + ["memory_gate"] + (_SAMPLED_TAGS if sampled else []),
        size = kwargs.pop("size", "small"),
        **kwargs
    )

def memory_gate_suite(name, profiles, thresholds, update = "update", programs = {}, tags = [], **kwargs):
    """Programs over many profiles: one judges, one updates the thresholds.

    `bazel run` of `name` prints the verdict over all profiles and ends with its
    number; unlike a test of one profile it also finds thresholds whose profile
    is gone.

    Args:
      name: of the program that judges.
      profiles: memory_profile targets.
      thresholds: threshold files.
      update: name of the program that updates.
      programs: further ones, which change nothing: from what they do ("audit",
        "compare", "diff", "explain", "history", "report") to the name of the target.
        "compare" and "history" need "diff".
      tags: of both, as usual; "measures_jemalloc" is added.
      **kwargs: for both: visibility, testonly ...
    """
    targets = {"check": _target(name), "update": _target(update)}
    targets.update({program: _target(target) for program, target in programs.items()})
    _memory_gate_check(
        name = name,
        profiles = profiles,
        targets = targets,
        thresholds = thresholds,
        tags = tags + _MEASURED_TAGS,
        update_target = _target(update),
        **kwargs
    )
    for program in programs:
        if program not in _READING_PROGRAMS:
            fail("memory_gate_suite %s: there is no program \"%s\"; use %s" % (name, program, ", ".join(sorted(_READING_PROGRAMS))))
    for program in ["compare", "history"]:
        if program in programs and "diff" not in programs:
            fail("memory_gate_suite %s: \"%s\" knows a commit by its \"diff\"; name both" % (name, program))
    _reading_programs(programs, profiles, thresholds, targets, tags + _MEASURED_TAGS, **kwargs)
    _memory_gate_update(
        name = update,
        profiles = profiles,
        tags = tags + _MEASURED_TAGS,
        targets = targets,
        thresholds = thresholds,
        **kwargs
    )

def memory_fleet_fit(name, fleet, profiles, tags = [], **kwargs):
    """A program that says whether the deployments of a device fit it together.

    `bazel run` of `name` takes the device, and what-if: --with=, --without=, --ram=.

    Args:
      name: of the program.
      fleet: a textproto; see gates/fleet/fleet.proto.
      profiles: memory_profile targets of the fleet's deployments.
      tags: as usual; "measures_jemalloc" is added.
      **kwargs: visibility, testonly ...
    """
    _memory_fleet_fit(
        name = name,
        fleet = fleet,
        profiles = profiles,
        tags = tags + _MEASURED_TAGS,
        targets = {"fit": _target(name)},
        **kwargs
    )

def memory_gate_selftest(name, profiles, producers, thresholds, tags = [], **kwargs):
    """A program that plants regressions into running programs, to see the gates catch them.

    Args:
      name: of the program.
      profiles: memory_profile targets, all that the thresholds are for.
      producers: memory_profile targets NAME_with_regressions_profile, as
        measured_binary of profiling/regressions/defs.bzl makes.
      thresholds: threshold files.
      tags: as usual; "measures_jemalloc" is added.
      **kwargs: visibility, testonly ...
    """
    _memory_gate_selftest(
        name = name,
        producers = producers,
        profiles = profiles,
        tags = tags + _MEASURED_TAGS,
        targets = {"selftest": _target(name)},
        thresholds = thresholds,
        **kwargs
    )
