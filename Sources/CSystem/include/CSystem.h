#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stddef.h>
#include <sys/types.h>

// What Swift can't say: control messages (cmsg(3)) are macros.

/// Sends `length` bytes with one descriptor beside them (SCM_RIGHTS, unix(7)). Returns as sendmsg(2); no SIGPIPE.
ssize_t csystem_send_descriptor(int socket, const void *bytes, size_t length, int descriptor);

/// Receives bytes, and at most one descriptor, close-on-exec; `*descriptor` is -1 if none came. Further ones are closed.
/// Returns as recvmsg(2).
ssize_t csystem_receive_descriptor(int socket, void *bytes, size_t length, int *descriptor);

/// The user id at the other end of a Unix socket when it connected (SO_PEERCRED), or -1 with errno.
long csystem_peer_user(int socket);

#endif
