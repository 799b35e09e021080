#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What Swift can't say: control messages (cmsg(3)) are macros, others are variadic or Linux's own.

/// Sends `length` bytes with one descriptor beside them (SCM_RIGHTS, unix(7)). Returns as sendmsg(2); no SIGPIPE.
ssize_t csystem_send_descriptor(int socket, const void *bytes, size_t length, int descriptor);

/// Receives bytes, and at most one descriptor, close-on-exec; `*descriptor` is -1 if none came. Further ones are closed.
/// Returns as recvmsg(2).
ssize_t csystem_receive_descriptor(int socket, void *bytes, size_t length, int *descriptor);

/// The user id at the other end of a Unix socket when it connected (SO_PEERCRED), or -1 with errno.
long csystem_peer_user(int socket);

/// Which file this is, past what a copy of it would share; `seconds` and `nanoseconds` of its birth are 0 where the file
/// system doesn't know them.
struct csystem_birth {
    uint64_t inode;
    int64_t seconds;
    uint32_t nanoseconds;
};

/// Fills in `*birth` for the file at `path` (statx(2)). Returns 0, or -1 with errno.
int csystem_birth(const char *path, struct csystem_birth *birth);

/// Opens a new file without a name in `directory`, mode 0600, close-on-exec (O_TMPFILE, open(2)). Returns the
/// descriptor, or -1 with errno.
int csystem_open_nameless(int directory);

/// Makes the empty file `copy` share all of `source`'s blocks (FICLONE, ioctl_ficlone(2)). Returns 0, or -1 with errno.
int csystem_clone(int source, int copy);

/// Renames within `directory`, and never replaces (RENAME_NOREPLACE, renameat2(2)). Returns 0, or -1 with errno.
int csystem_rename_new(int directory, const char *from, const char *to);

/// Where the next byte at or after `offset` is that is no hole (SEEK_DATA, lseek(2)). Returns -1 with errno ENXIO if
/// there is none.
off_t csystem_next_data(int file, off_t offset);

/// Lets no debugger of the same user look into this process, and leaves no core file (PR_SET_DUMPABLE, prctl(2);
/// RLIMIT_CORE, setrlimit(2)). Returns 0, or -1 with errno.
int csystem_harden(void);

/// Overwrites memory, whatever the optimiser thinks of it (explicit_bzero(3)).
void csystem_wipe(void *bytes, size_t length);

#endif
