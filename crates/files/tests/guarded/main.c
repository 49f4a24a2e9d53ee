/*
 * Loads a library that guards memory maps: main LIBRARY FILE. A thread that has no guard touches a page that its file
 * has lost. The handler of the library must pass the signal on to the handler of this program, and must not allocate.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

extern void *__libc_malloc(size_t len), *__libc_calloc(size_t n, size_t len), *__libc_memalign(size_t align, size_t len);
static volatile int is_faulting, n_allocations;

void *malloc(size_t len)
{
    n_allocations += is_faulting;
    return __libc_malloc(len);
}

void *calloc(size_t n, size_t len)
{
    n_allocations += is_faulting;
    return __libc_calloc(n, len);
}

void *aligned_alloc(size_t align, size_t len)
{
    n_allocations += is_faulting;
    return __libc_memalign(align, len);
}

static sigjmp_buf before;
static const char *file;

static void on_sigbus(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}

static void *touch_a_lost_page(void *argument)
{
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    volatile char *page;
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
    page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(page != MAP_FAILED && ftruncate(fd, 0) == 0);
    if (!sigsetjmp(before, 1)) {
        is_faulting = 1;
        (void)*page;
        CHECK(!"the page is lost");
    }
    is_faulting = 0;
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *library;
    _Bool (*start_guard)(void);
    CHECK(argc == 3);
    file = argv[2];
    CHECK(signal(SIGBUS, on_sigbus) != SIG_ERR);
    library = dlopen(argv[1], RTLD_NOW);
    CHECK(library != NULL);
    *(void **)&start_guard = dlsym(library, "start_guard");
    CHECK(start_guard != NULL && start_guard());
    CHECK(pthread_create(&thread, NULL, touch_a_lost_page, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(n_allocations == 0);
    return 0;
}
