"""The tables of the experiment and what is measured with them."""

load("//profiling:defs.bzl", "memory_profile")

# How a table is read -> the form of its file.
_FORMAT_OF_IO = {
    "binary": "binary",
    "csv": "csv",
    "mapped": "binary",
}
_PROGRAMS = {
    "linear_regression": [],
    # What a network holds does not depend on how often it sees the table, and
    # what it allocates hardly does.
    "neural_network": ["--epochs=2"],
}

def generated_table(features, rows, tags = []):
    """Writes a table, as text and as binary file.

    Args:
      features: count of columns, without the target.
      rows: count of rows.
      tags: of the targets.

    Returns:
      {format: label}.
    """
    files = {}
    for format in ["csv", "binary"]:
        name = "linear_%dx%d_%s" % (features, rows, format)
        native.genrule(
            name = name,
            outs = [name + ".data"],
            cmd = ("$(location :make_table) --seed=1 --features=%d --rows=%d " +
                   "--format=%s --output=$@") % (features, rows, format),
            tags = tags,
            tools = [":make_table"],
        )
        files[format] = ":" + name
    return files

def measured_experiments(name, tables, csv_args = [], tags = [], **kwargs):
    """Measures both programs over tables, read in each of the three ways.

    Args:
      name: of a filegroup of all the profiles; they are named
        PROGRAM_TABLE_IO_profile.
      tables: {table: {format: label of its file}}.
      csv_args: further arguments where text is read.
      tags: of the targets.
      **kwargs: further attributes of memory_profile.

    Returns:
      The names of the profiles.
    """
    profiles = []
    for program, program_args in _PROGRAMS.items():
        for table, files in tables.items():
            for io, format in _FORMAT_OF_IO.items():
                profile = "%s_%s_%s_profile" % (program, table, io)
                profiles.append(profile)
                memory_profile(
                    name = profile,
                    args = [
                        "--data=data",
                        "--io=" + io,
                        "--model=model",
                        "--predictions=predictions.csv",
                    ] + program_args + (csv_args if io == "csv" else []),
                    benchmark = ":" + program,
                    data = {files[format]: "data"},
                    tags = tags,
                    **kwargs
                )
    native.filegroup(
        name = name,
        srcs = profiles,
        tags = tags,
        visibility = ["//gates:__subpackages__"],
    )
    return profiles

def stage_report(name, profiles, tags = []):
    """Writes NAME.txt and NAME.html from profiles of the experiment.

    Args:
      name: of the target.
      profiles: labels of memory_profile targets or groups of them.
      tags: of the target.
    """
    native.genrule(
        name = name,
        srcs = profiles,
        outs = [
            name + ".html",
            name + ".txt",
        ],
        cmd = ("$(location :tabular_report) --html_output=$(location %s.html) " +
               "--text_output=$(location %s.txt) $(SRCS)") % (name, name),
        tags = tags,
        tools = [":tabular_report"],
    )
