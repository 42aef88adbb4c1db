#!/usr/bin/env python3
"""Applies the rename table of house.md 3.2 to a tree: once, after the merge.

    words.py TREE [--dry_run]      then: tools/dev format, buildifier, tools/lint/lint.sh docs mutations

RULES are (globs, regular expression, replacement), applied in order to every tracked file
that one of the globs names (space-separated; ! leaves out), comments and strings included.
RENAMES are files; every mention of their path, include, guard and target follows. What
belongs to files and users stays: flags, keys and field names, proto fields, benchmark
names, thresholds, decision records and the change log. Idempotent but for words that a
rule makes and a later one takes (none now). Prints how often each rule applied: a rule with
0 is one whose code another helper renamed or deleted already.
"""
import fnmatch, pathlib, re, subprocess, sys

NEVER = "gates/thresholds/* docs/decisions/* CHANGELOG.md docs/results/* *.png *.svg *.safetensors *.bin *.csv LICENSE".split()
CODE = "*.h *.cc"
ALL = "*.h *.cc *BUILD *.bzl *.md *.sh *.py */mutations.txt"
LOWMEM = "lowmem/*.h lowmem/*.cc lowmem/*.md lowmem/mutations.txt"
TRAINER = "trainer_manager/*.h trainer_manager/*.cc trainer_manager/*.md trainer_manager/mutations.txt"
PLANNER = "trainer_manager/planner/*.h trainer_manager/planner/*.cc trainer_manager/mutations.txt"
TABULAR = "gates/deployments/tabular/*.h gates/deployments/tabular/*.cc"


def only(names, package):
    """The files of these stems in a folder, with the folder's list of mutations."""
    return " ".join("%s/%s*" % (package, name) for name in names.split()) + " " + package.split("/")[0] + "/mutations.txt"


RENAMES = [  # old stem, new stem: .h, .cc, _test.cc, and the target of the stem's name
    ("lowmem/weights/panels", "lowmem/weights/column_blocks"),
    ("lowmem/models/weight_finder", "lowmem/models/weight_binder"),
    ("trainer_manager/runtime/plan_watch", "trainer_manager/runtime/lifespan_checker"),
    ("base/files/unnamed_file", "base/files/anonymous_file"),
    ("memo/get_rivals_benchmark", "memo/get_alternatives_benchmark"),
]

RULES = [
    # panel: sixteen tokens. What a packed file is cut into is a column block. Flags
    # (--panels) and the files' keys ("panels:NAME") stay.
    (ALL, r"\b(Default|Parse)ColumnBlockRule(s?)\b", r"\1ColumnBlockRule\2"),
    (ALL, r"\bPanelRule\b", "ColumnBlockRule"),
    (ALL, r"\bPanelsKey\b", "ColumnBlocksKey"),
    (ALL, r"\bPanelsText\b", "ColumnBlocksText"),
    (ALL, r"\bFindPanels\b", "FindColumnBlocks"),
    (ALL, r"\bCopyPanels\b", "CopyColumnBlocks"),
    ("lowmem/checkpoints/* lowmem/mutations.txt", r"\bPanelColumns\b", "BlockColumns"),
    (ALL, r"\bpanel_columns(_?)\b", r"block_columns\1"),
    ("lowmem/* ", r"\b(was_)?in_panels\b", r"\1in_column_blocks"),
    ("lowmem/* ", r"\bcolumn_in_panel\b", "column_in_block"),
    (only("column_blocks panels weight_store file_store", "lowmem/weights"), r"\bPanels\b", "ColumnBlocks"),
    (only("column_blocks panels weight_store file_store", "lowmem/weights"), r"(?<![:/\w\"-])panels(?=[.>_;,) =]|->)(?!\.(?:h|cc))", "blocks"),
    ("lowmem/checkpoints/pack.* lowmem/checkpoints/pack_test.cc lowmem/programs/lowmem_pack.cc lowmem/mutations.txt",
     r"\boptions(_?)\.panels\b", r"options\1.column_blocks"),
    ("lowmem/checkpoints/pack.h", r"std::vector<ColumnBlockRule> panels\b", "std::vector<ColumnBlockRule> column_blocks"),
    (only("column_blocks weight_store", "lowmem/weights"), r"\bpanel\b", "block"),
    # Desk: a worker's scratch memory in a pass.
    (LOWMEM, r"\bMakeDesk\b", "MakeScratch"),
    (LOWMEM, r"\bDesk\b", "WorkerScratch"),
    (LOWMEM, r"\bdesks_\b", "worker_scratch_"),
    (LOWMEM, r"\bdesks'", "workers'"),
    (LOWMEM, r"\bdesks\b", "scratches"),
    (LOWMEM, r"\bdesk\b(?=[.;,)\] ]|->)", "worker_scratch"),
    # Meet: a barrier. Together: a phase of a run, by all workers.
    (LOWMEM, r"\bMeet\(\)", "ArriveAndWait()"),
    (LOWMEM, r"\bMeet\b", "ArriveAndWait"),
    (LOWMEM, r"\bmeetings_\b", "barrier_phase_"),
    (only("worker_team", "lowmem/workers"), r"\bmeeting\b", "phase"),
    (LOWMEM, r"(?<=[.>])Together\(", "RunPhase("),
    ("lowmem/workers/step_team.h", r"\bvoid Together\(", "void RunPhase("),
    # room of a list: its capacity.
    (LOWMEM, r"\b(list|tiles)\.room\b", r"\1.capacity"),
    ("lowmem/streaming/*.h lowmem/streaming/*.cc lowmem/mutations.txt", r"\broom(?=\.size\(\)|\[count\]|\.first\(|;)", "capacity"),
    ("lowmem/models/*_tiles.h", r"// without room: they are counted", "// without capacity: they are counted"),
    # ends of a product: its epilogue.
    (LOWMEM, r"\bProductEnds\b", "Epilogue"),
    (LOWMEM, r"\b(tile|strip)_ends\b", r"\1_epilogue"),
    (LOWMEM, r"(?<![\w\"])ends(?=[.,;){]| = |->)(?! of)", "epilogue"),
    # remark: a note. The protos' messages and fields keep their names.
    (CODE, r"\bRemarkSource\b", "NoteSource"),
    (CODE, r"\bRemarksOf\b", "NotesOf"),
    (CODE, r"\bRemarksText\b", "NotesText"),
    (CODE, r"\bAddRemarks\b", "AddNotes"),
    (ALL, r"\bplanned\.remarks\(\)", "planned.notes()"),
    ("memo/product/planned_benchmarks.*", r"\bremarks\(\)", "notes()"),
    ("memo/product/plan_in_words.h profiling/google_benchmark/*.h", r"\bremark(s?)\b(?!\()", r"note\1"),
    ("profiling/google_benchmark/benchmark_profiler.cc", r"(?<![\w.>])remarks(?=[,)]|\(\)| != )", "notes"),
    # rivals: alternatives.
    ("memo/* third_party/* tools/*", r"\b_?_alternative_repositories\b", "_alternative_repositories"),
    ("memo/*", r"\brivals_are_told\b", "alternatives_are_told"),
    ("memo/*.sh memo/*.cc memo/*.h memo/*BUILD", r"\brival(s?)\b", r"alternative\1"),
    # place, by its eight meanings. 1: a position of a sequence.
    ("trainer_manager/layers/attention*", r"\bkMostPlaces\b", "kMostPositions"),
    ("trainer_manager/layers/attention* trainer_manager/layers/structure_layers*", r"\bplaces\b", "positions"),
    ("trainer_manager/layers/attention*", r"\bplace\b", "position"),
    ("trainer_manager/README.md", r"a head and place\b", "a head and position"),
    # 2: the winner in a pooling window.
    ("trainer_manager/*", r"\bpack_places\b", "pack_winners"),
    ("trainer_manager/layers/pooling*", r"\bkMostPlaces\b", "kMostWinners"),
    ("trainer_manager/layers/pooling*", r"\bPlaceCursor\b", "WinnerCursor"),
    ("trainer_manager/layers/pooling*", r"\bForEachPlace\b", "ForEachWinner"),
    ("trainer_manager/layers/pooling*", r"\bPlaces\(", "Winners("),
    ("trainer_manager/layers/pooling*", r"\b(largest_)?place(s?)\b", r"\1winner\2"),
    # 3: the address of a tensor.
    ("trainer_manager/runtime/step_table.*", r"\bplaces(_?)\b", r"addresses\1"),
    ("trainer_manager/runtime/step_table.*", r"\bplace_of\b", "address_of"),
    ("trainer_manager/runtime/step_table.*", r"\bPlace\b(?!\()", "Address"),
    ("trainer_manager/runtime/step_table.*", r"\bplace\b", "address"),
    # 4: the state of a parser.
    ("base/safetensors/safetensors.cc base/mutations.txt", r"\bPlace\b(?=::| place_| place,| \{)", "State"),
    ("base/safetensors/safetensors.cc base/mutations.txt", r"\bplace_(?=[ ;)])", "state_"),
    ("base/safetensors/safetensors.cc base/mutations.txt", r"\bState place\b", "State state"),
    ("base/safetensors/safetensors.cc base/mutations.txt", r"\bstate_ = place;", "state_ = state;"),
    # 5: a file, a line and a column.
    ("gates/judge/threshold_file* gates/updating/threshold_edit* gates/mutations.txt", r"\bTextPlaces\b", "TextOffsets"),
    ("gates/updating/threshold_edit.cc gates/mutations.txt", r"\bplaces_(?=[(.;])", "text_offsets_"),
    ("gates/judge/threshold_file* gates/updating/threshold_edit* gates/mutations.txt", r"\bplace(s?)(_?)\b(?!\()", r"location\1\2"),
    ("gates/deployments/tabular/tables/csv_* base/text/csv_*", r"\bPlace\(\)", "Location()"),
    ("gates/deployments/tabular/tables/csv_* base/text/csv_*", r"\bplace_(?=[,; )])", "location_"),
    # 6: data to pixels.
    ("base/page/*.h base/page/*.cc base/mutations.txt", r"(?<=[.>])Place\(", "ToPixel("),
    ("base/page/chart_drawing.*", r"\b(double (?:\w+::)?)Place\(", r"\1ToPixel("),
    ("base/page/line_chart.cc base/page/layout_chart.cc", r"\bdouble place = ", "double pixel = "),
    ("base/page/line_chart.cc base/page/layout_chart.cc", r"\bLength\(place\)", "Length(pixel)"),
    ("base/page/line_chart.cc base/page/layout_chart.cc", r"(?<=, )place \+ 4", "pixel + 4"),
    # 7: an index in an order.
    ("trainer_manager/planner/hill_climb.cc", r"\bplace\b", "rank"),
    ("trainer_manager/planner/planner.cc", r"(?<=int64_t )place\b|(?<=\()place\b|(?<= )place(?= [-!>])|(?<=< )place\b", "index"),
    ("memo/product/exact_filter.cc", r"\bplace\b", "offset"),
    ("memo/schedule/cell_orders.cc", r"\bplace(s?)\b", r"index\1"),
    ("memo/schedule/cell_orders.cc", r"\bindexs\b", "indices"),
    # 8: an index in an array, also in error messages ("is nan at place 3").
    ("trainer_manager/* base/simd/* lowmem/*", r"\bat place (?=\d|\"|[A-Z])", "at index "),
    (" ".join(["trainer_manager/runtime/%s*" % name for name in
               "gradient_steps manager parameter_file parameters plan_watch lifespan_checker".split()]),
     r"(?<![\w\"])place(?=[\]<,;)]| =| <| >=)", "index_of_value"),
    ("trainer_manager/math/*_test.cc", r"\bplace\b(?=[\])):;,]| :)", "index"),
    # statistic of a layer: PyTorch's word is buffer; ours says that it runs.
    (TRAINER, r"\bkStatistic\b", "kRunningStatistic"),
    ("base/memory/allocator.cc base/mutations.txt", r"\bReadStatistic\b", "ReadCounter"),
    # a checker of lifespans, a binder of weights.
    (ALL, r"\bPlanWatch(Test)?\b", r"LifespanChecker\1"),
    ("trainer_manager/runtime/* trainer_manager/mutations.txt", r"\bwatch_\b", "lifespan_checker_"),
    (ALL, r"\bWeightFinder(Test)?\b", r"WeightBinder\1"),
    ("lowmem/*", r"(?<![\w/\"])finder\b(?=[.;,)]| =|\()", "binder"),
    # spread: the standard deviation. Determination: R squared.
    (TABULAR, r"\bspreads\b", "deviations"),
    ("gates/deployments/tabular/column_statistics*", r"\bspread\b(?!_)", "deviation"),
    (TABULAR, r"\bDeterminationText\b", "RSquaredText"),
    (TABULAR, r"\bkLeastDetermination\b", "kLeastRSquared"),
    (TABULAR, r"\bDetermination\(", "RSquared("),
    (TABULAR, r"\b(learned_|held_out_)determination\b", r"\1r_squared"),
    (TABULAR, r"\bdetermination\b(?=[).])", "r_squared"),
    ("gates/deployments/tabular/*.h gates/deployments/tabular/*.cc", r"mean 0 and spread 1\b", "mean 0 and deviation 1"),
    # the rest of the table.
    (ALL, r"\bkAtLeisure\b", "kNoFsync"),
    (ALL, r"\bUnnamedFile\b", "AnonymousFile"),
    ("lowmem/*", r"\bGiveUpStrays\b", "DropMispredicted"),
    ("trainer_manager/execution/*.h trainer_manager/execution/*.cc trainer_manager/mutations.txt", r"\bwriter_\.again\(", "writer_.recomputed_tensor("),
    ("trainer_manager/execution/step_writer*", r"(?<=[ >.])again(?=\()", "recomputed_tensor"),
    ("trainer_manager/execution/*", r"\bagain_\b", "recomputed_tensors_"),
    ("trainer_manager/execution/*.h trainer_manager/execution/*.cc trainer_manager/runtime/*.cc", r"(?<=[.>])kept\b", "is_retained"),
    ("trainer_manager/execution/execution_types.h", r"\bbool kept = false", "bool is_retained = false"),
    (PLANNER, r"\bcells\b", "sections"),
    (PLANNER, r"\bcell\b", "section"),
    (PLANNER, r"\b(\w+)_cell(s?)\b", r"\1_section\2"),
    (PLANNER, r"\bcell_(\w+)\b", r"section_\1"),
    (PLANNER, r"\b(k?[A-Z]\w*?)?Cell(s?)(?=[A-Z]|\b)", r"\1Section\2"),
    # archaic words of comments and pages.
    ("*.h *.cc *.md *.sh", r"\bwith what mends it\b", "with what fixes it"),
    ("*.h *.cc *.md *.sh", r"\bmends\b", "fixes"),
    ("*.h *.cc *.md *.sh", r"\bmend\b", "fix"),
    ("*.h *.cc *.md", r"\bvouches for\b", "guarantees"),
    ("*.h *.cc", r"(?m)^(\s*//.*[a-z] )dear\b", r"\1expensive"),
]


def listed(tree):
    names = subprocess.run(["git", "ls-files"], cwd=tree, check=True, capture_output=True, text=True).stdout
    return [name for name in names.split("\n") if name and (tree / name).is_file()
            and not any(fnmatch.fnmatch(name, never) for never in NEVER)]


def rename_files(tree, dry_run):
    for old, new in RENAMES:
        old_name, new_name = old.rpartition("/")[2], new.rpartition("/")[2]
        folder = old.rpartition("/")[0]
        moved = [name for name in listed(tree) if re.fullmatch(re.escape(old) + r"(_test)?\.(h|cc)", name)]
        print("%3d files: %s -> %s" % (len(moved), old, new))
        if dry_run or not moved:
            continue
        for name in moved:
            subprocess.run(["git", "mv", name, name.replace(old, new)], cwd=tree, check=True)
        guard = lambda stem: re.sub(r"\W", "_", stem).upper()
        for name in listed(tree):
            path = tree / name
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            fresh = text.replace(old + ".", new + ".").replace(old + "_test", new + "_test")
            fresh = fresh.replace("FOOTPRINT_%s_H_" % guard(old), "FOOTPRINT_%s_H_" % guard(new))
            fresh = re.sub(r"//%s:%s(_test)?\b" % (folder, old_name), r"//%s:%s\1" % (folder, new_name), fresh)
            package = folder.split("/")[0]
            inner = folder[len(package) + 1:]
            if name.startswith(package + "/") and inner:
                fresh = re.sub(r"(?<![\w/])%s/%s(?=\.|_test)" % (inner, old_name), "%s/%s" % (inner, new_name), fresh)
            if name == package + "/mutations.txt":
                prefix = inner + "/" if inner else ""
                fresh = re.sub(r"(?m)^((?:first\t)?)%s%s(?=\.|_test)" % (re.escape(prefix), old_name),
                               r"\1%s%s" % (prefix, new_name), fresh)
            if name == folder + "/BUILD":
                fresh = re.sub(r'"(:?)%s((?:_test)?(?:\.h|\.cc)?)"' % old_name, r'"\1%s\2"' % new_name, fresh)
            if name.startswith(folder + "/") or name.endswith((".md", ".h", ".cc")):
                # By its name alone, in comments and scripts.
                fresh = re.sub(r"(?<![\w/])%s(?=\.h\b|\.cc\b|_test\b)" % old_name, new_name, fresh)
            if name.endswith(".sh") and name.startswith(package):
                fresh = fresh.replace(old, new)
            if fresh != text:
                path.write_text(fresh)


def matches(name, globs):
    return any(fnmatch.fnmatch(name, glob) for glob in globs.split())


def in_faults(listing, text, globs, pattern, replacement):
    """A list of faults with the rule applied to those of the files that it is for."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        file, tab, fault = line.partition("\t")
        if tab and file not in ("first", "tests") and matches(listing.rpartition("/")[0] + "/" + file, globs):
            lines[i] = file + tab + re.sub(pattern, replacement, fault)
    return "\n".join(lines)


def main():
    tree, dry_run = pathlib.Path(sys.argv[1]), "--dry_run" in sys.argv
    rename_files(tree, dry_run)
    texts = {}
    for name in listed(tree):
        try:
            texts[name] = (tree / name).read_text()
        except UnicodeDecodeError:
            pass
    before = dict(texts)
    for globs, pattern, replacement in RULES:
        count = 0
        for name in texts:
            if name.endswith("mutations.txt"):
                texts[name] = in_faults(name, texts[name], globs, pattern, replacement)
            elif matches(name, globs):
                texts[name], times = re.subn(pattern, replacement, texts[name])
                count += times
        print("%5d %s" % (count, pattern))
    changed = [name for name in texts if texts[name] != before[name]]
    if not dry_run:
        for name in changed:
            (tree / name).write_text(texts[name])
    print(len(changed), "files changed")


main()
