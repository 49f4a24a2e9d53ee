/* Eight threads share an engine and a key. */
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
    return 0;
}
