/* Many messages at once give the results of the messages one by one, with every backend. */
#include <hashlane.h>

#include "check.h"

enum { N_MESSAGES = 333, LONGEST = 1700, CHUNK_LEN = 192 };

static char bytes[LONGEST + N_MESSAGES];
static const void *messages[N_MESSAGES];
static size_t lens[N_MESSAGES];
static uint8_t digests[N_MESSAGES * HASHLANE_MAX_DIGEST_LEN + 1];
static uint8_t expected[HASHLANE_MAX_DIGEST_LEN];

static void whole_messages(const hashlane_engine *engine, hashlane_algorithm algorithm) {
    const size_t digest_len = hashlane_digest_len(algorithm);
    size_t n_messages, i;
    for (n_messages = 0; n_messages <= N_MESSAGES; n_messages += n_messages < 40 ? 1 : 293) {
        memset(digests, 0xee, sizeof digests);
        CHECK(!hashlane_digest_many(engine, algorithm, messages, lens, n_messages, digests));
        for (i = 0; i < n_messages; i++) {
            CHECK(!hashlane_digest(NULL, algorithm, messages[i], lens[i], expected));
            CHECK(memcmp(digests + i * digest_len, expected, digest_len) == 0);
        }
        CHECK(digests[n_messages * digest_len] == 0xee);
    }
}

static void chunks(const hashlane_engine *engine, hashlane_algorithm algorithm) {
    const size_t digest_len = hashlane_digest_len(algorithm);
    size_t len, i;
    for (len = 0; len < LONGEST; len += 95) {
        const size_t n_chunks = (len + CHUNK_LEN - 1) / CHUNK_LEN;
        memset(digests, 0xee, sizeof digests);
        CHECK(!hashlane_digest_chunks(engine, algorithm, bytes, len, CHUNK_LEN, digests, n_chunks));
        for (i = 0; i < n_chunks; i++) {
            const size_t left = len - i * CHUNK_LEN;
            const size_t chunk_len = left < CHUNK_LEN ? left : (size_t)CHUNK_LEN;
            CHECK(!hashlane_digest(NULL, algorithm, bytes + i * CHUNK_LEN, chunk_len, expected));
            CHECK(memcmp(digests + i * digest_len, expected, digest_len) == 0);
        }
        CHECK(digests[n_chunks * digest_len] == 0xee);
    }
}

static void macs(const hashlane_engine *engine, hashlane_algorithm algorithm) {
    const size_t mac_len = hashlane_digest_len(algorithm);
    hashlane_hmac_key *key;
    size_t i;
    CHECK(!hashlane_hmac_key_new(NULL, algorithm, "key", 3, &key));
    memset(digests, 0xee, sizeof digests);
    CHECK(!hashlane_hmac_many(engine, key, messages, lens, N_MESSAGES, digests));
    for (i = 0; i < N_MESSAGES; i++) {
        CHECK(!hashlane_hmac_key_verify(key, messages[i], lens[i], digests + i * mac_len, mac_len));
    }
    CHECK(digests[N_MESSAGES * mac_len] == 0xee);
    hashlane_hmac_key_free(key);
}

static void all(const hashlane_engine *engine, hashlane_algorithm algorithm) {
    whole_messages(engine, algorithm);
    chunks(engine, algorithm);
    macs(engine, algorithm);
}

int main(void) {
    const char *name;
    size_t i;
    for (i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 7 % 251);
    }
    for (i = 0; i < N_MESSAGES; i++) {
        messages[i] = bytes + i;
        lens[i] = i * i % LONGEST;
    }
    messages[0] = NULL;
    all(NULL, HASHLANE_SHA1);
    all(NULL, HASHLANE_SHA256);
    all(NULL, HASHLANE_SHA224);
    all(NULL, HASHLANE_SHA384);
    all(NULL, HASHLANE_SHA512);
    all(NULL, HASHLANE_MD5);
    for (i = 0; (name = hashlane_backend_name(i)) != NULL; i++) {
        hashlane_engine *engine;
        if (hashlane_engine_new(name, &engine) == HASHLANE_ERROR_NONE) {
            all(engine, HASHLANE_SHA1);
            all(engine, HASHLANE_SHA256);
            all(engine, HASHLANE_SHA224);
            all(engine, HASHLANE_SHA512);
            all(engine, HASHLANE_MD5);
            hashlane_engine_free(engine);
        }
    }
    return 0;
}
