/* Errors have messages in a destructor that runs at the end of a thread, after the library's own data of the thread. */
#include <hashlane.h>
#include <pthread.h>

#include "check.h"

static pthread_key_t key;
static int n_destroyed;

static void at_exit(void *value) {
    hashlane_torrent *torrent;
    hashlane_error error;
    (void)value;
    /* The message of the thread's last error may be gone. The message of the code always exists. */
    CHECK(strcmp(hashlane_error_details(HASHLANE_ERROR_NULL_POINTER),
                 hashlane_error_message(HASHLANE_ERROR_NULL_POINTER)) == 0);
    CHECK(strlen(hashlane_error_details(HASHLANE_ERROR_INVALID_TORRENT)) > 0);
    error = hashlane_torrent_parse("no torrent", 10, &torrent);
    CHECK(error == HASHLANE_ERROR_INVALID_TORRENT);
    CHECK(strlen(hashlane_error_details(error)) > 0);
    n_destroyed++;
}

static void *work(void *argument) {
    hashlane_torrent *torrent;
    hashlane_error error = hashlane_torrent_parse("no torrent", 10, &torrent);
    CHECK(error == HASHLANE_ERROR_INVALID_TORRENT);
    CHECK(strcmp(hashlane_error_details(error), hashlane_error_message(error)) != 0);
    CHECK(pthread_setspecific(key, argument) == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    CHECK(pthread_key_create(&key, at_exit) == 0);
    CHECK(pthread_create(&thread, NULL, work, &key) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(n_destroyed == 1);
    return 0;
}
