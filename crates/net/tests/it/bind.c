// Loaded into a process: its first UDP port is in use by another program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>

static atomic_flag is_refused = ATOMIC_FLAG_INIT;

int bind(int fd, struct sockaddr const *address, socklen_t len)
{
    int (*next)(int, struct sockaddr const *, socklen_t);
    *(void **)&next = dlsym(RTLD_NEXT, "bind");
    int type = 0;
    socklen_t type_len = sizeof type;
    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len);
    if (type == SOCK_DGRAM && address->sa_family == AF_INET && ((struct sockaddr_in const *)address)->sin_port != 0
        && !atomic_flag_test_and_set(&is_refused)) {
        errno = EADDRINUSE;
        return -1;
    }
    return next(fd, address, len);
}
