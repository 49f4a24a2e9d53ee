/* Eight threads share an engine and a key, and then a hasher and a MAC in progress. */
#include <hashlane.h>
#include <pthread.h>

#include "check.h"

enum { N_THREADS = 8, N_ROUNDS = 500, MESSAGE_LEN = 300 };

struct shared {
    const hashlane_engine *engine;
    const hashlane_hmac_key *key;
    uint8_t mac[HASHLANE_SHA256_LEN];
    uint8_t digest[HASHLANE_SHA256_LEN];
};

static void *work(void *argument) {
    const struct shared *shared = (const struct shared *)argument;
    char message[MESSAGE_LEN];
    uint8_t found[HASHLANE_SHA256_LEN];
    hashlane_hasher *hasher;
    int round;
    memset(message, 'm', sizeof message);
    CHECK(!hashlane_hasher_new(shared->engine, HASHLANE_SHA256, &hasher));
    for (round = 0; round < N_ROUNDS; round++) {
        CHECK(!hashlane_hmac_key_mac(shared->key, message, sizeof message, found));
        CHECK(memcmp(found, shared->mac, sizeof found) == 0);
        CHECK(!hashlane_digest(shared->engine, HASHLANE_SHA256, message, sizeof message, found));
        CHECK(memcmp(found, shared->digest, sizeof found) == 0);
        CHECK(!hashlane_hasher_update(hasher, message, sizeof message));
        CHECK(!hashlane_hasher_finish(hasher, found));
        CHECK(memcmp(found, shared->digest, sizeof found) == 0);
    }
    hashlane_hasher_free(hasher);
    return NULL;
}

struct counted {
    hashlane_hasher *hasher;
    hashlane_mac *mac;
    pthread_mutex_t mutex;
    size_t n_updates, n_busy, mac_len;
};

/* Appends a byte in each call that does not fail. */
static void *update(void *argument) {
    struct counted *counted = (struct counted *)argument;
    size_t n_updates = 0, n_busy = 0, mac_len = 0;
    int round;
    for (round = 0; round < N_ROUNDS; round++) {
        hashlane_error error = hashlane_hasher_update(counted->hasher, "x", 1);
        CHECK(!error || error == HASHLANE_ERROR_BUSY);
        n_updates += !error;
        n_busy += error == HASHLANE_ERROR_BUSY;
        error = hashlane_mac_update(counted->mac, "x", 1);
        CHECK(!error || error == HASHLANE_ERROR_BUSY);
        mac_len += !error;
    }
    CHECK(pthread_mutex_lock(&counted->mutex) == 0);
    counted->n_updates += n_updates;
    counted->n_busy += n_busy;
    counted->mac_len += mac_len;
    CHECK(pthread_mutex_unlock(&counted->mutex) == 0);
    return NULL;
}

/* A call on a handle that another thread uses fails and changes nothing. */
static void share_a_hasher(hashlane_algorithm algorithm) {
    static char message[N_THREADS * N_ROUNDS];
    pthread_t threads[N_THREADS];
    struct counted counted;
    hashlane_hmac_key *key;
    uint8_t found[HASHLANE_MAX_DIGEST_LEN], expected[HASHLANE_MAX_DIGEST_LEN];
    const size_t len = hashlane_digest_len(algorithm);
    int i;
    memset(message, 'x', sizeof message);
    counted.n_updates = counted.n_busy = counted.mac_len = 0;
    CHECK(pthread_mutex_init(&counted.mutex, NULL) == 0);
    CHECK(!hashlane_hasher_new(NULL, algorithm, &counted.hasher));
    CHECK(!hashlane_hmac_key_new(NULL, algorithm, "key", 3, &key));
    CHECK(!hashlane_mac_new(key, &counted.mac));
    for (i = 0; i < N_THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, update, &counted) == 0);
    }
    for (i = 0; i < N_THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(counted.n_updates + counted.n_busy == N_THREADS * N_ROUNDS && counted.n_updates > 0);
    CHECK(!hashlane_hasher_finish(counted.hasher, found));
    CHECK(!hashlane_digest(NULL, algorithm, message, counted.n_updates, expected));
    CHECK(memcmp(found, expected, len) == 0);
    CHECK(!hashlane_mac_finish(counted.mac, found));
    CHECK(!hashlane_hmac_key_verify(key, message, counted.mac_len, found, len));
    hashlane_hasher_free(counted.hasher);
    hashlane_mac_free(counted.mac);
    hashlane_hmac_key_free(key);
    CHECK(pthread_mutex_destroy(&counted.mutex) == 0);
}

int main(void) {
    pthread_t threads[N_THREADS];
    char message[MESSAGE_LEN];
    hashlane_engine *engine;
    hashlane_hmac_key *key;
    struct shared shared;
    int i;
    memset(message, 'm', sizeof message);
    CHECK(!hashlane_engine_new(NULL, &engine));
    CHECK(!hashlane_hmac_key_new(engine, HASHLANE_SHA256, "key", 3, &key));
    shared.engine = engine;
    shared.key = key;
    CHECK(!hashlane_hmac(NULL, HASHLANE_SHA256, "key", 3, message, sizeof message, shared.mac));
    CHECK(!hashlane_digest(NULL, HASHLANE_SHA256, message, sizeof message, shared.digest));
    for (i = 0; i < N_THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &shared) == 0);
    }
    for (i = 0; i < N_THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    hashlane_hmac_key_free(key);
    hashlane_engine_free(engine);
    share_a_hasher(HASHLANE_SHA1);
    share_a_hasher(HASHLANE_SHA512);
    return 0;
}
