#include "CFuzzer.h"

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*target)(const uint8_t *bytes, size_t length));

int cfuzzer_run(int *count, char ***arguments, int (*target)(const uint8_t *bytes, size_t length)) {
    return LLVMFuzzerRunDriver(count, arguments, target);
}
