// The bytes of the program that FOOTPRINT_RECORD_READER names.

#include "gates/trials/record_reader_checksum.h"

  .section .rodata
  .balign 16
  .globl footprint_record_reader_begin
footprint_record_reader_begin:
  .incbin FOOTPRINT_RECORD_READER
  .globl footprint_record_reader_end
footprint_record_reader_end:
  .byte 0

  .section .note.GNU-stack, "", @progbits
