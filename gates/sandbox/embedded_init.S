// The bytes of the program that FOOTPRINT_SANDBOX_INIT names.

#include "gates/sandbox/init_checksum.h"

  .section .rodata
  .balign 16
  .globl footprint_sandbox_init_begin
footprint_sandbox_init_begin:
  .incbin FOOTPRINT_SANDBOX_INIT
  .globl footprint_sandbox_init_end
footprint_sandbox_init_end:
  .byte 0

  .section .note.GNU-stack, "", @progbits
