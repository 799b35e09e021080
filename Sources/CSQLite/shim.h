#include <sqlite3.h>

// Casts of integers to function pointers don't arrive in Swift; these have the type that the calls take.
static const sqlite3_destructor_type CSQLite_transient = SQLITE_TRANSIENT;

// Compound macros don't arrive either.
static const int CSQLite_sharedMemoryFull = SQLITE_IOERR_SHMSIZE;
static const int CSQLite_syncFailed = SQLITE_IOERR_FSYNC;
static const int CSQLite_directorySyncFailed = SQLITE_IOERR_DIR_FSYNC;
static const int CSQLite_readFailed = SQLITE_IOERR_READ;
static const int CSQLite_writeFailed = SQLITE_IOERR_WRITE;
static const int CSQLite_truncateFailed = SQLITE_IOERR_TRUNCATE;
static const int CSQLite_deleteFailed = SQLITE_IOERR_DELETE;
static const int CSQLite_mapFailed = SQLITE_IOERR_SHMMAP;
