#define _GNU_SOURCE
#include "CSystem.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int csystem_harden(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void csystem_wipe(void *bytes, size_t length) { explicit_bzero(bytes, length); }
