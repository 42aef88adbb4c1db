"""Measuring memory as a build action: the rule `memory_profile`."""

MemoryProfileInfo = provider(
    doc = "What one `memory_profile` measured.",
    fields = {
        "label": "Canonical label of what was measured, \"//package:target\", without a repository prefix.",
        "profile": "File: the MemoryProfile, the same bytes for the same code.",
        "samples": "File: the MemorySamples, what varied between the processes.",
    },
)
