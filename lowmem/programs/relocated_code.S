// A word among the code that holds its own address, which the loader writes
// there: what position-dependent assembly in a library comes to.

    .text
    .globl FootprintRelocatedWord
    .balign 8
FootprintRelocatedWord:
    .8byte FootprintRelocatedWord

    .section .note.GNU-stack,"",%progbits
