#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t csystem_send_descriptor(int socket, const void *bytes, size_t length, int descriptor) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {0};
    memset(&control, 0, sizeof control);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t csystem_receive_descriptor(int socket, void *bytes, size_t length, int *descriptor) {
    // Room for more than one, so that surplus descriptors are seen and closed rather than lost to us.
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(16 * sizeof(int))];
    } control;
    struct iovec part = {bytes, length};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control.space;
    *descriptor = -1;
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count < 0) return count;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t many = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < many; index++) {
            int received;
            memcpy(&received, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
            if (*descriptor < 0) {
                *descriptor = received;
            } else {
                close(received);
            }
        }
    }
    return count;
}

long csystem_peer_user(int socket) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    return credentials.uid;
}

int csystem_birth(const char *path, struct csystem_birth *birth) {
    struct statx found;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &found) < 0) return -1;
    int known = (found.stx_mask & STATX_BTIME) != 0;
    birth->inode = found.stx_ino;
    birth->seconds = known ? found.stx_btime.tv_sec : 0;
    birth->nanoseconds = known ? found.stx_btime.tv_nsec : 0;
    return 0;
}

int csystem_open_nameless(int directory) {
    return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int csystem_clone(int source, int copy) { return ioctl(copy, FICLONE, source); }

int csystem_rename_new(int directory, const char *from, const char *to) {
    return renameat2(directory, from, directory, to, RENAME_NOREPLACE);
}

off_t csystem_next_data(int file, off_t offset) { return lseek(file, offset, SEEK_DATA); }
