// Loaded into a process: limits the number of its threads, as a cgroup does.
//
// HASHLANE_TEST_THREADS threads that may exist besides the main thread; others fail with EAGAIN
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int running;

struct start {
    void *(*run)(void *);
    void *argument;
};

static void *run(void *argument)
{
    struct start const start = *(struct start *)argument;
    free(argument);
    void *const result = start.run(start.argument);
    atomic_fetch_sub(&running, 1);
    return result;
}

int pthread_create(pthread_t *thread, pthread_attr_t const *attributes, void *(*body)(void *), void *argument)
{
    int (*next)(pthread_t *, pthread_attr_t const *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    char const *const limit = getenv("HASHLANE_TEST_THREADS");
    struct start *const start = malloc(sizeof *start);
    if (!start) abort();
    *start = (struct start){body, argument};
    int error = EAGAIN;
    if (atomic_fetch_add(&running, 1) < (limit ? atoi(limit) : 0)) {
        error = next(thread, attributes, run, start);
    }
    if (error) {
        atomic_fetch_sub(&running, 1);
        free(start);
    }
    return error;
}
