"""The tables of the experiment and what is measured with them."""

load("//profiling:defs.bzl", "memory_profile")

# How a table is read -> the form of its file.
_FORMAT_OF_IO = {
    "binary": "binary",
    "csv": "csv",
    "mapped": "binary",
}
_EXTENSION = {
    "binary": "table",
    "csv": "csv",
}
_PROGRAMS = {
    "linear_regression": [],
    # What a network holds does not depend on how often it sees the table; what it
    # allocates hardly does.
    "neural_network": ["--epochs=2"],
}

def generated_tables(sizes, tags = []):
    """Writes a table of each size, as text and as binary file.

    Args:
      sizes: list of (features, rows).
      tags: of the targets.
    """
    for features, rows in sizes:
        for format, extension in _EXTENSION.items():
            native.genrule(
                name = "linear_%dx%d_%s" % (features, rows, format),
                outs = ["linear_%dx%d.%s" % (features, rows, extension)],
                cmd = "$(location :make_table) --seed=1 --features=%d --rows=%d --format=%s --output=$@" %
                      (features, rows, format),
                tags = tags,
                tools = [":make_table"],
            )

def measured_experiments(name, tables, args_of_csv = [], tags = [], **kwargs):
    """Measures both programs over tables, read in each of the three ways.

    Args:
      name: of a filegroup of all the profiles; they are named
        PROGRAM_TABLE_IO_profile.
      tables: list of names; TABLE.csv and TABLE.table are read.
      args_of_csv: further arguments where text is read.
      tags: of the targets.
      **kwargs: further attributes of memory_profile.
    """
    profiles = []
    for program, program_args in _PROGRAMS.items():
        for table in tables:
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
                    ] + program_args + (args_of_csv if io == "csv" else []),
                    benchmark = ":" + program,
                    data = {":%s.%s" % (table, _EXTENSION[format]): "data"},
                    tags = tags,
                    **kwargs
                )
    native.filegroup(
        name = name,
        srcs = profiles,
        tags = tags,
    )
