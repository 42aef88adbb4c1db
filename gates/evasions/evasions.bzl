"""The corpus: ways to hold 100 MB that the figure of a loop does not show."""

# The benchmark of each profile, by the profile's name.
WITHOUT_MALICE = {
    "bss": "BM_Bss",
    "doubling_buffer": "BM_DoublingBuffer",
    "mmap": "BM_Mmap",
    "posix_spawn": "BM_PosixSpawn",
    "sbrk": "BM_Sbrk",
    "second_iteration": "BM_SecondIteration",
    "second_repetition": "BM_SecondRepetition",
    "setup": "BM_Setup",
    "shared_memory": "BM_SharedMemory",
    "static_arena": "BM_StaticArena",
    "teardown": "BM_Teardown",
    "thread_stacks": "BM_ThreadStacks",
}
CHILDREN = {
    "clone": "BM_Clone",
    "clone_vm": "BM_CloneVm",
    "daemon": "BM_Daemon",
    "fork": "BM_Fork",
    "system": "BM_System",
    "vfork": "BM_Vfork",
}
WITH_MALICE = {
    "inner_allocator": "BM_InnerAllocator",
    "raw_system_call": "BM_RawSystemCall",
    "tells_by_command_line": "BM_TellsByCommandLine",
    "tells_by_environment": "BM_TellsByEnvironment",
    "unmapped_file": "BM_UnmappedFile",
    "unwaited_clone": "BM_UnwaitedClone",
}

# These bytes are in no mapping of a process, or only for a moment.
UNMAPPED = {
    "file_of_a_thread": "BM_FileOfAThread",
    "files_of_workers": "BM_FilesOfWorkers",
    "given_back_mapping": "BM_GivenBackMapping",
    "given_back_segment": "BM_GivenBackSegment",
    "one_page_mapped": "BM_OnePageMapped",
    "page_tables": "BM_PageTables",
    "unlinked_file": "BM_UnlinkedFile",
}

# The evasions that only a control group sees.
BY_GROUP = {
    "dear_looks": "BM_DearLooks",
    "file_in_flight": "BM_FileInFlight",
    "many_children": "BM_ManyChildren",
    "pipes": "BM_Pipes",
    "request_rings": "BM_RequestRings",
    "socket_buffers": "BM_SocketBuffers",
    "spliced_pages": "BM_SplicedPages",
}
FORGERIES = [
    "at_exit",
    "instead",
]
