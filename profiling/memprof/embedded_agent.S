// The bytes of the files that FOOTPRINT_AGENT and FOOTPRINT_COPY_COUNTER name.

#include "profiling/memprof/agent_checksum.h"

  .section .rodata
  .balign 16
  .globl footprint_agent_begin
footprint_agent_begin:
  .incbin FOOTPRINT_AGENT
  .globl footprint_agent_end
footprint_agent_end:
  .byte 0
  .balign 16
  .globl footprint_copy_counter_begin
footprint_copy_counter_begin:
  .incbin FOOTPRINT_COPY_COUNTER
  .globl footprint_copy_counter_end
footprint_copy_counter_end:
  .byte 0

  .section .note.GNU-stack, "", @progbits
