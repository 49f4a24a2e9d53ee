// Makes reads of one file visible, and lets them fail. Loaded with LD_PRELOAD.
//
// HASHLANE_TEST_FILE   end of the path of the file
// HASHLANE_TEST_READS  file that gets a line for each read
// HASHLANE_TEST_THREAD start of the names of the threads whose reads count; all threads if it is not set
// HASHLANE_TEST_FAILS  offset in the file; reads of later bytes fail with EIO
// HASHLANE_TEST_READABLE
//                      offset in the file; reads from there on succeed again. Reads without an offset (read) fail, too
// HASHLANE_TEST_HELD   file; while it exists, reads of the watched file wait, a minute at most in all
// HASHLANE_TEST_BROKEN file; while it exists, reads, writes and syncs fail with EIO if HASHLANE_TEST_FILE is a part of the
//                      path, as it is of files without a name (O_TMPFILE)
// HASHLANE_TEST_SYNCS  file that gets a line for each fsync of the file; if it is "fails", they fail with EIO
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Writes the path of an open file, and returns its length, or -1. */
static ssize_t path_of(int fd, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t len = readlink(link, path, size - 1);
    if (len >= 0) path[len] = 0;
    return len;
}

static int is_watched(int fd)
{
    char thread[16];
    const char *const wanted = getenv("HASHLANE_TEST_THREAD");
    if (wanted
        && (prctl(PR_GET_NAME, thread) != 0 || strncmp(thread, wanted, strlen(wanted)) != 0)) {
        return 0;
    }
    char path[4096];
    const char *const end = getenv("HASHLANE_TEST_FILE");
    const ssize_t len = path_of(fd, path, sizeof path);
    const size_t end_len = end ? strlen(end) : 0;
    return end && len >= (ssize_t)end_len && strcmp(path + len - end_len, end) == 0;
}

/* Returns 1 and sets errno if the disk of a file is broken. */
static int is_broken(int fd)
{
    char path[4096];
    const char *const broken = getenv("HASHLANE_TEST_BROKEN");
    const char *const part = getenv("HASHLANE_TEST_FILE");
    if (!broken || !part || access(broken, F_OK) != 0 || path_of(fd, path, sizeof path) < 0
        || !strstr(path, part)) {
        return 0;
    }
    errno = EIO;
    return 1;
}

/* Returns 1 and sets errno if a read of these bytes is to fail. */
static int is_unreadable(off64_t offset, size_t len)
{
    const char *const fails = getenv("HASHLANE_TEST_FAILS");
    const char *const readable = getenv("HASHLANE_TEST_READABLE");
    if (!fails || offset + (off64_t)len <= atoll(fails)
        || (readable && offset >= atoll(readable))) {
        return 0;
    }
    errno = EIO;
    return 1;
}

/* Waits while the disk of a file does not answer. */
static void wait_for_disk(int fd)
{
    const char *const held = getenv("HASHLANE_TEST_HELD");
    if (!held || !is_watched(fd)) return;
    static _Atomic int waits = 600;
    while (access(held, F_OK) == 0 && atomic_fetch_sub(&waits, 1) > 0) usleep(100000);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off64_t);
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
    return is_broken(fd) ? -1 : next(fd, bytes, len, offset);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    ssize_t (*next)(int, const void *, size_t);
    *(void **)&next = dlsym(RTLD_NEXT, "write");
    return is_broken(fd) ? -1 : next(fd, bytes, len);
}

ssize_t read(int fd, void *buffer, size_t len)
{
    ssize_t (*next)(int, void *, size_t);
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    wait_for_disk(fd);
    if (getenv("HASHLANE_TEST_READABLE") && is_watched(fd)
        && is_unreadable(lseek64(fd, 0, SEEK_CUR), len)) {
        return -1;
    }
    return next(fd, buffer, len);
}

ssize_t pread64(int fd, void *buffer, size_t len, off64_t offset)
{
    ssize_t (*next)(int, void *, size_t, off64_t);
    *(void **)&next = dlsym(RTLD_NEXT, "pread64");
    if (is_broken(fd)) return -1;
    wait_for_disk(fd);
    if (getenv("HASHLANE_TEST_READS") && is_watched(fd)) {
        const int reads = open(getenv("HASHLANE_TEST_READS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (reads < 0 || write(reads, "read\n", 5) != 5) abort();
        close(reads);
        if (is_unreadable(offset, len)) return -1;
    }
    return next(fd, buffer, len, offset);
}

int fsync(int fd)
{
    int (*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    if (is_broken(fd)) return -1;
    const char *const log = getenv("HASHLANE_TEST_SYNCS");
    if (log && is_watched(fd)) {
        if (strcmp(log, "fails") == 0) {
            errno = EIO;
            return -1;
        }
        const int syncs = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (syncs < 0 || write(syncs, "sync\n", 5) != 5) abort();
        close(syncs);
    }
    return next(fd);
}
