#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's loop (https://llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library"): calls `target` with inputs
/// that it makes up, until its options say enough. Returns the exit status.
int cfuzzer_run(int *count, char ***arguments, int (*target)(const uint8_t *bytes, size_t length));

#endif
