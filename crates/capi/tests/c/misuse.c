/* Wrong arguments give an error code and a message, and change nothing. */
#include <hashlane.h>

#include "check.h"

static const size_t TOO_LARGE = (size_t)PTRDIFF_MAX + 1;
static const hashlane_algorithm UNKNOWN = 99;

static void messages_of_errors(void) {
    int code, other;
    for (code = HASHLANE_ERROR_NONE; code <= HASHLANE_ERROR_DIGEST_MISMATCH; code++) {
        const char *message = hashlane_error_message(code);
        CHECK(strlen(message) > 0 && strcmp(message, "unknown error code") != 0);
        for (other = 0; other < code; other++) {
            CHECK(strcmp(message, hashlane_error_message(other)) != 0);
        }
    }
    CHECK(strcmp(hashlane_error_message(HASHLANE_ERROR_DIGEST_MISMATCH + 1), "unknown error code") == 0);
    CHECK(strcmp(hashlane_error_message(-1), "unknown error code") == 0);
    CHECK(strcmp(hashlane_error_message(1000), "unknown error code") == 0);
    CHECK(strchr(hashlane_version(), '.') != NULL);
}

static void engines(void) {
    hashlane_engine *engine = NULL;
    CHECK(hashlane_engine_new("sha-9000", &engine) == HASHLANE_ERROR_UNKNOWN_BACKEND);
    CHECK(engine == NULL);
    CHECK(hashlane_engine_new("", &engine) == HASHLANE_ERROR_UNKNOWN_BACKEND);
    CHECK(hashlane_engine_new("\xff", &engine) == HASHLANE_ERROR_UNKNOWN_BACKEND);
    CHECK(hashlane_engine_new("portable", NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_engine_new(NULL, &engine) == HASHLANE_ERROR_NONE);
    CHECK(hashlane_engine_lanes(engine, HASHLANE_SHA1) >= 1);
    CHECK(hashlane_engine_lanes(engine, UNKNOWN) == 0);
    CHECK(hashlane_engine_backend(engine, UNKNOWN, 1) == NULL);
    CHECK(hashlane_engine_backend(engine, HASHLANE_SHA256, 0) != NULL);
    CHECK(hashlane_engine_backend(engine, HASHLANE_SHA256, SIZE_MAX) != NULL);
    hashlane_engine_free(engine);
    hashlane_engine_free(NULL);
    CHECK(hashlane_engine_new("portable", &engine) == HASHLANE_ERROR_NONE);
    CHECK(strcmp(hashlane_engine_backend(engine, HASHLANE_SHA1, 16), "portable") == 0);
    hashlane_engine_free(engine);
    CHECK(hashlane_backend_name(SIZE_MAX) == NULL);
    CHECK(hashlane_digest_len(UNKNOWN) == 0);
    /* Algorithms that the engine does not hash. */
    CHECK(hashlane_engine_backend(NULL, HASHLANE_SHA512, 1) == NULL);
    CHECK(hashlane_engine_lanes(NULL, HASHLANE_MD5) == 1);
}

static void digests(void) {
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN];
    memset(digest, 0xee, sizeof digest);
    CHECK(hashlane_digest(NULL, HASHLANE_SHA1, NULL, 1, digest) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest(NULL, HASHLANE_SHA1, "abc", 3, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest(NULL, HASHLANE_SHA1, "abc", TOO_LARGE, digest) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_digest(NULL, UNKNOWN, "abc", 3, digest) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(digest[0] == 0xee && digest[31] == 0xee);
    CHECK(hashlane_digest(NULL, HASHLANE_SHA1, NULL, 0, digest) == HASHLANE_ERROR_NONE);
    CHECK_HEX(digest, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

static void hashers(void) {
    hashlane_hasher *hasher, *copy;
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN];
    CHECK(hashlane_hasher_new(NULL, HASHLANE_SHA1, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hasher_new(NULL, UNKNOWN, &hasher) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(hasher == NULL);
    CHECK(hashlane_hasher_update(NULL, "abc", 3) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hasher_finish(NULL, digest) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hasher_reset(NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hasher_clone(NULL, &copy) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(copy == NULL);
    CHECK(!hashlane_hasher_new(NULL, HASHLANE_SHA1, &hasher));
    CHECK(hashlane_hasher_clone(hasher, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(!hashlane_hasher_update(hasher, "abc", 3));
    CHECK(hashlane_hasher_update(hasher, NULL, 1) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hasher_update(hasher, "abc", TOO_LARGE) == HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(!hashlane_hasher_update(hasher, NULL, 0));
    CHECK(hashlane_hasher_finish(hasher, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(!hashlane_hasher_finish(hasher, digest));
    CHECK_HEX(digest, "a9993e364706816aba3e25717850c26c9cd0d89d");
    hashlane_hasher_free(hasher);
    hashlane_hasher_free(NULL);
}

static void macs(void) {
    hashlane_hmac_key *key;
    hashlane_mac *in_progress;
    uint8_t mac[HASHLANE_MAX_DIGEST_LEN], other[HASHLANE_MAX_DIGEST_LEN];
    CHECK(hashlane_hmac(NULL, UNKNOWN, "k", 1, "m", 1, mac) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(hashlane_hmac(NULL, HASHLANE_SHA1, NULL, 1, "m", 1, mac) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac(NULL, HASHLANE_SHA1, "k", 1, NULL, 1, mac) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac(NULL, HASHLANE_SHA1, "k", 1, "m", 1, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac(NULL, HASHLANE_SHA1, "k", TOO_LARGE, "m", 1, mac) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_hmac(NULL, HASHLANE_SHA1, "k", 1, "m", TOO_LARGE, mac) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(!hashlane_hmac(NULL, HASHLANE_SHA1, NULL, 0, NULL, 0, mac));
    CHECK_HEX(mac, "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d");

    CHECK(hashlane_hmac_key_new(NULL, UNKNOWN, "k", 1, &key) == HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(key == NULL);
    CHECK(hashlane_hmac_key_new(NULL, HASHLANE_SHA1, "k", 1, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_key_new(NULL, HASHLANE_SHA1, NULL, 1, &key) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_key_mac(NULL, "m", 1, mac) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_key_verify(NULL, "m", 1, mac, 20) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_mac_new(NULL, &in_progress) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(in_progress == NULL);

    CHECK(!hashlane_hmac_key_new(NULL, HASHLANE_SHA1, NULL, 0, &key));
    CHECK(hashlane_hmac_key_mac(key, "m", 1, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_key_mac(key, "m", TOO_LARGE, mac) == HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(!hashlane_hmac_key_verify(key, NULL, 0, mac, 20));
    CHECK(hashlane_hmac_key_verify(key, NULL, 0, mac, 19) == HASHLANE_ERROR_TAG_LENGTH);
    CHECK(hashlane_hmac_key_verify(key, NULL, 0, NULL, 0) == HASHLANE_ERROR_TAG_LENGTH);
    CHECK(hashlane_hmac_key_verify(key, NULL, 0, NULL, 20) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_key_verify(key, "x", 1, mac, 20) == HASHLANE_ERROR_TAG_MISMATCH);

    CHECK(hashlane_mac_new(key, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(!hashlane_mac_new(key, &in_progress));
    CHECK(!hashlane_mac_update(in_progress, NULL, 0));
    CHECK(hashlane_mac_update(in_progress, NULL, 1) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_mac_update(NULL, "m", 1) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_mac_finish(NULL, other) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_mac_verify(NULL, mac, 20) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(!hashlane_mac_update(in_progress, "m", 1));
    CHECK(hashlane_mac_finish(in_progress, NULL) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(!hashlane_mac_finish(in_progress, other)); /* The message was kept. */
    CHECK(!hashlane_hmac_key_mac(key, "m", 1, mac));
    CHECK(memcmp(mac, other, 20) == 0);
    hashlane_mac_free(in_progress);
    hashlane_mac_free(NULL);
    hashlane_hmac_key_free(key);
    hashlane_hmac_key_free(NULL);
}

static void many(void) {
    const void *messages[2] = {"abc", NULL};
    size_t lens[2] = {3, 1};
    uint8_t digests[3 * HASHLANE_MAX_DIGEST_LEN];
    hashlane_hmac_key *key;
    CHECK(!hashlane_hmac_key_new(NULL, HASHLANE_SHA1, "k", 1, &key));
    memset(digests, 0xee, sizeof digests);
    CHECK(!hashlane_digest_many(NULL, HASHLANE_SHA1, NULL, NULL, 0, NULL));
    CHECK(!hashlane_hmac_many(NULL, key, NULL, NULL, 0, NULL));
    CHECK(hashlane_digest_many(NULL, UNKNOWN, messages, lens, 1, digests) ==
          HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, NULL, lens, 1, digests) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, messages, NULL, 1, digests) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, messages, lens, 1, NULL) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, messages, lens, 2, digests) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_many(NULL, NULL, messages, lens, 1, digests) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_many(NULL, key, messages, lens, 2, digests) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_hmac_many(NULL, key, messages, lens, 1, NULL) == HASHLANE_ERROR_NULL_POINTER);
    lens[0] = TOO_LARGE;
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, messages, lens, 1, digests) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, messages, lens, SIZE_MAX, digests) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_digest_chunks(NULL, HASHLANE_SHA1, "abc", 3, 0, digests, 1) ==
          HASHLANE_ERROR_ZERO_MESSAGE_LENGTH);
    CHECK(hashlane_digest_chunks(NULL, HASHLANE_SHA1, "abc", 3, 2, digests, 1) ==
          HASHLANE_ERROR_WRONG_COUNT);
    CHECK(hashlane_digest_chunks(NULL, HASHLANE_SHA1, "abc", 3, 2, digests, 3) ==
          HASHLANE_ERROR_WRONG_COUNT);
    CHECK(hashlane_digest_chunks(NULL, HASHLANE_SHA1, NULL, 3, 2, digests, 2) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest_chunks(NULL, HASHLANE_SHA1, "abc", 3, 2, NULL, 2) ==
          HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_digest_chunks(NULL, HASHLANE_SHA1, "abc", TOO_LARGE, TOO_LARGE, digests, 1) ==
          HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_digest_chunks(NULL, UNKNOWN, "abc", 3, 2, digests, 2) ==
          HASHLANE_ERROR_UNKNOWN_ALGORITHM);
    CHECK(digests[0] == 0xee);
    CHECK(!hashlane_digest_chunks(NULL, HASHLANE_SHA1, NULL, 0, 2, NULL, 0));
    hashlane_hmac_key_free(key);
}

/* Pointers that are not aligned have an error of their own. The bytes behind them are not used. */
static void misaligned(void) {
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN];
    union {
        void *aligned[4];
        char bytes[4 * sizeof(void *)];
    } memory = {{NULL, NULL, NULL, NULL}};
    char *odd = memory.bytes + 1;
    hashlane_engine **handle = (hashlane_engine **)(void *)odd;
    const hashlane_engine *engine = (const hashlane_engine *)(const void *)odd;
    hashlane_hasher *hasher = (hashlane_hasher *)(void *)odd;
    const void *const *messages = (const void *const *)(const void *)odd;
    const size_t *lens = (const size_t *)(const void *)odd;
    CHECK(hashlane_engine_new(NULL, handle) == HASHLANE_ERROR_MISALIGNED_POINTER);
    CHECK(hashlane_digest(engine, HASHLANE_SHA1, "abc", 3, digest) == HASHLANE_ERROR_MISALIGNED_POINTER);
    CHECK(hashlane_hmac(engine, HASHLANE_SHA1, "k", 1, "m", 1, digest) == HASHLANE_ERROR_MISALIGNED_POINTER);
    CHECK(hashlane_engine_lanes(engine, HASHLANE_SHA1) == 0);
    CHECK(hashlane_engine_backend(engine, HASHLANE_SHA1, 1) == NULL);
    CHECK(hashlane_hasher_update(hasher, "abc", 3) == HASHLANE_ERROR_MISALIGNED_POINTER);
    CHECK(hashlane_digest_many(NULL, HASHLANE_SHA1, messages, lens, 1, digest) == HASHLANE_ERROR_MISALIGNED_POINTER);
    CHECK(hashlane_report_counts(NULL, (hashlane_counts *)(void *)odd) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(memory.aligned[0] == NULL && memory.aligned[1] == NULL);
}

int main(void) {
    messages_of_errors();
    misaligned();
    engines();
    digests();
    hashers();
    macs();
    many();
    return 0;
}
