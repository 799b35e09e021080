#include <sqlite3.h>

// Casts of integers to function pointers don't arrive in Swift; these have the type that the calls take.
static const sqlite3_destructor_type CSQLite_transient = SQLITE_TRANSIENT;

// Compound macros don't arrive either.
static const int CSQLite_sharedMemoryFull = SQLITE_IOERR_SHMSIZE;
