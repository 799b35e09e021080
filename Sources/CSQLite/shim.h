#include <sqlite3.h>

// Casts of integers to function pointers don't arrive in Swift; these have the type that the calls take.
static const sqlite3_destructor_type CSQLite_transient = SQLITE_TRANSIENT;
