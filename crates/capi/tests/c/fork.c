/* The library after fork: what docs/reference/c.md allows works in the child, and a handle in use by another call is busy there. */
#include <hashlane.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char METAINFO[] = "d4:infod6:lengthi3e4:name3:abc12:piece lengthi16384e6:pieces20:"
                               "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d" "ee";
static const char ABCABC_SHA256[] = "bbb59da3af939f7af5f360f2ceb80a496e3bae1cd87dde426db0ae40677e1c2c";

struct handles {
    hashlane_engine *engine;
    hashlane_hasher *hasher;
    hashlane_hmac_key *key;
    hashlane_mac *mac;
    hashlane_queue *queue;
    hashlane_torrent *torrent;
    hashlane_report *report;
    char path[64];
};

static int n_digests;

static void on_digest(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    (void)tag, (void)bytes, (void)len, (void)digest;
    n_digests++;
}

/* Waits for a child, which must exit with 0. */
static void wait_for(pid_t child) {
    int status;
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Continues what was begun before fork, in the parent and in the child. */
static void use(struct handles *handles) {
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN], mac[HASHLANE_MAX_DIGEST_LEN];
    hashlane_report *report;
    CHECK(!hashlane_hasher_update(handles->hasher, "abc", 3));
    CHECK(!hashlane_hasher_finish(handles->hasher, digest));
    CHECK_HEX(digest, ABCABC_SHA256);
    CHECK(!hashlane_mac_update(handles->mac, "abc", 3));
    CHECK(!hashlane_mac_finish(handles->mac, mac));
    CHECK(!hashlane_hmac_key_verify(handles->key, "abcabc", 6, mac, HASHLANE_SHA256_LEN));
    CHECK(!hashlane_queue_submit(handles->queue, NULL, "abc", 3));
    CHECK(!hashlane_queue_flush(handles->queue));
    CHECK(n_digests == 2);
    CHECK(hashlane_report_is_complete(handles->report));
    /* Threads are started in the child, too. */
    CHECK(!hashlane_torrent_verify(handles->engine, handles->torrent, handles->path, 4, NULL, NULL, &report));
    CHECK(hashlane_report_is_complete(report));
    hashlane_report_free(report);
    hashlane_hasher_free(handles->hasher);
    hashlane_mac_free(handles->mac);
    hashlane_hmac_key_free(handles->key);
    hashlane_queue_free(handles->queue);
    hashlane_engine_free(handles->engine);
    hashlane_torrent_free(handles->torrent);
    hashlane_report_free(handles->report);
}

/* Handles, with a message in each that has begun. */
static void between_calls(void) {
    struct handles handles;
    pid_t child;
    int file;
    strcpy(handles.path, "/tmp/hashlane-capi-XXXXXX");
    file = mkstemp(handles.path);
    CHECK(file >= 0 && write(file, "abc", 3) == 3 && close(file) == 0);
    CHECK(!hashlane_engine_new(NULL, &handles.engine));
    CHECK(!hashlane_hasher_new(handles.engine, HASHLANE_SHA256, &handles.hasher));
    CHECK(!hashlane_hmac_key_new(handles.engine, HASHLANE_SHA256, "key", 3, &handles.key));
    CHECK(!hashlane_mac_new(handles.key, &handles.mac));
    CHECK(!hashlane_queue_new(handles.engine, HASHLANE_SHA256, on_digest, &handles.queue));
    CHECK(!hashlane_torrent_parse(METAINFO, sizeof METAINFO - 1, &handles.torrent));
    CHECK(!hashlane_torrent_verify(handles.engine, handles.torrent, handles.path, 0, NULL, NULL, &handles.report));
    CHECK(!hashlane_hasher_update(handles.hasher, "abc", 3));
    CHECK(!hashlane_mac_update(handles.mac, "abc", 3));
    CHECK(!hashlane_queue_submit(handles.queue, NULL, "abc", 3));
    child = fork();
    use(&handles);
    if (child == 0) {
        exit(0);
    }
    wait_for(child);
    CHECK(unlink(handles.path) == 0);
}

static hashlane_queue *forking_queue;
static pthread_barrier_t in_callback, forked;

static void wait_in_callback(void *tag, const void *bytes, size_t len, const uint8_t *digest) {
    (void)tag, (void)bytes, (void)len, (void)digest;
    pthread_barrier_wait(&in_callback);
    pthread_barrier_wait(&forked);
}

static void *flush(void *argument) {
    (void)argument;
    CHECK(!hashlane_queue_submit(forking_queue, NULL, "abc", 3));
    CHECK(!hashlane_queue_flush(forking_queue));
    return NULL;
}

/* The thread that uses a queue does not exist in the child. The queue stays busy there; other handles are free. */
static void during_a_call(void) {
    pthread_t thread;
    pid_t child;
    CHECK(!hashlane_queue_new(NULL, HASHLANE_SHA256, wait_in_callback, &forking_queue));
    CHECK(pthread_barrier_init(&in_callback, NULL, 2) == 0 && pthread_barrier_init(&forked, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, flush, NULL) == 0);
    pthread_barrier_wait(&in_callback);
    child = fork();
    if (child == 0) {
        uint8_t digest[HASHLANE_SHA256_LEN];
        CHECK(hashlane_queue_submit(forking_queue, NULL, "abc", 3) == HASHLANE_ERROR_BUSY);
        CHECK(hashlane_queue_flush(forking_queue) == HASHLANE_ERROR_BUSY);
        CHECK(!hashlane_digest(NULL, HASHLANE_SHA256, "abcabc", 6, digest));
        CHECK_HEX(digest, ABCABC_SHA256);
        _exit(0);
    }
    wait_for(child);
    pthread_barrier_wait(&forked);
    CHECK(pthread_join(thread, NULL) == 0);
    hashlane_queue_free(forking_queue);
    CHECK(pthread_barrier_destroy(&in_callback) == 0 && pthread_barrier_destroy(&forked) == 0);
}

int main(void) {
    between_calls();
    during_a_call();
    return 0;
}
