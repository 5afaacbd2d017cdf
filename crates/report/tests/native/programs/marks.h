// A name for the place behind an instruction: as a return address, it belongs to the line of the mark.
#define MARK(name) __asm__ volatile("nop\n.globl mark_" #name "\nmark_" #name ":")
