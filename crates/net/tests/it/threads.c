// Loaded into a process: limits the number of its threads, as a cgroup does.
//
// HASHLANE_TEST_THREADS threads that may exist besides the main thread; others fail with EAGAIN
// HASHLANE_TEST_REFUSED_THREAD number of the one call that fails, from 1; 0 or nothing refuses none
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int running;
static atomic_int calls;

static int number(char const *variable)
{
    char const *const value = getenv(variable);
    return value ? atoi(value) : 0;
}

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
    int const is_refused = atomic_fetch_add(&calls, 1) + 1 == number("HASHLANE_TEST_REFUSED_THREAD");
    struct start *const start = malloc(sizeof *start);
    if (!start) abort();
    *start = (struct start){body, argument};
    int error = EAGAIN;
    if (atomic_fetch_add(&running, 1) < number("HASHLANE_TEST_THREADS") && !is_refused) {
        error = next(thread, attributes, run, start);
    }
    if (error) {
        atomic_fetch_sub(&running, 1);
        free(start);
    }
    return error;
}
