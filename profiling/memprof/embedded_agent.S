// The bytes of the file that FOOTPRINT_AGENT names.

#include "profiling/memprof/agent_checksum.h"

  .section .rodata
  .balign 16
  .globl footprint_agent_begin
footprint_agent_begin:
  .incbin FOOTPRINT_AGENT
  .globl footprint_agent_end
footprint_agent_end:
  .byte 0

  .section .note.GNU-stack, "", @progbits
