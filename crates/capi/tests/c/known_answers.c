/* Known answers by every function that hashes: FIPS 180-4 examples, RFC 2202 and RFC 4231. */
#include <hashlane.h>

#include "check.h"

static const char ABC_SHA1[] = "a9993e364706816aba3e25717850c26c9cd0d89d";
static const char ABC_SHA256[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char TWO_BLOCKS[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
static const char TWO_BLOCKS_SHA1[] = "84983e441c3bd26ebaae4aa1f95129e5e54670f1";
static const char TWO_BLOCKS_SHA256[] =
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
static const char JEFE_MESSAGE[] = "what do ya want for nothing?";
static const char JEFE_SHA1[] = "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79";
static const char JEFE_SHA256[] =
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

static void digests(const hashlane_engine *engine) {
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN];
    CHECK(hashlane_digest(engine, HASHLANE_SHA1, "abc", 3, digest) == HASHLANE_ERROR_NONE);
    CHECK_HEX(digest, ABC_SHA1);
    CHECK(hashlane_digest(engine, HASHLANE_SHA256, "abc", 3, digest) == HASHLANE_ERROR_NONE);
    CHECK_HEX(digest, ABC_SHA256);

    /* The digest may overwrite the message. */
    memcpy(digest, "abc", 3);
    CHECK(hashlane_digest(engine, HASHLANE_SHA256, digest, 3, digest) == HASHLANE_ERROR_NONE);
    CHECK_HEX(digest, ABC_SHA256);
}

static void hashers(const hashlane_engine *engine, hashlane_algorithm algorithm, const char *abc,
                    const char *two_blocks) {
    hashlane_hasher *hasher, *copy;
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN];
    size_t i;
    CHECK(!hashlane_hasher_new(engine, algorithm, &hasher));
    for (i = 0; i < strlen(TWO_BLOCKS); i++) {
        CHECK(!hashlane_hasher_update(hasher, TWO_BLOCKS + i, 1));
    }
    CHECK(!hashlane_hasher_clone(hasher, &copy));
    CHECK(!hashlane_hasher_finish(hasher, digest));
    CHECK_HEX(digest, two_blocks);

    /* The message is empty again. */
    CHECK(!hashlane_hasher_update(hasher, "abc", 3));
    CHECK(!hashlane_hasher_finish(hasher, digest));
    CHECK_HEX(digest, abc);

    CHECK(!hashlane_hasher_update(hasher, "x", 1));
    CHECK(!hashlane_hasher_reset(hasher));
    CHECK(!hashlane_hasher_update(hasher, "abc", 3));
    CHECK(!hashlane_hasher_finish(hasher, digest));
    CHECK_HEX(digest, abc);
    hashlane_hasher_free(hasher);

    CHECK(!hashlane_hasher_finish(copy, digest));
    CHECK_HEX(digest, two_blocks);
    hashlane_hasher_free(copy);
}

static void macs(const hashlane_engine *engine, hashlane_algorithm algorithm, const char *expected) {
    hashlane_hmac_key *key;
    hashlane_mac *in_progress;
    uint8_t mac[HASHLANE_MAX_DIGEST_LEN];
    const size_t message_len = strlen(JEFE_MESSAGE), mac_len = hashlane_digest_len(algorithm);
    int round;
    CHECK(!hashlane_hmac(engine, algorithm, "Jefe", 4, JEFE_MESSAGE, message_len, mac));
    CHECK_HEX(mac, expected);

    CHECK(!hashlane_hmac_key_new(engine, algorithm, "Jefe", 4, &key));
    memset(mac, 0, sizeof mac);
    CHECK(!hashlane_hmac_key_mac(key, JEFE_MESSAGE, message_len, mac));
    CHECK_HEX(mac, expected);
    CHECK(!hashlane_hmac_key_verify(key, JEFE_MESSAGE, message_len, mac, mac_len));

    /* RFC 2104, section 5: at least 10 bytes, and at least half of the MAC. */
    CHECK(!hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, 16, 16));
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, 16, 17) ==
          HASHLANE_ERROR_TAG_LENGTH);
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, 9, 9) ==
          HASHLANE_ERROR_TRUNCATED_LENGTH);
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, mac_len,
                                             mac_len + 1) == HASHLANE_ERROR_TRUNCATED_LENGTH);
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len - 1, mac, 16, 16) ==
          HASHLANE_ERROR_TAG_MISMATCH);

    CHECK(!hashlane_mac_new(key, &in_progress));
    hashlane_hmac_key_free(key);
    for (round = 0; round < 2; round++) {
        memset(mac, 0, sizeof mac);
        CHECK(!hashlane_mac_update(in_progress, JEFE_MESSAGE, 10));
        CHECK(!hashlane_mac_update(in_progress, JEFE_MESSAGE + 10, message_len - 10));
        CHECK(!hashlane_mac_finish(in_progress, mac));
        CHECK_HEX(mac, expected);
    }
    CHECK(!hashlane_mac_update(in_progress, JEFE_MESSAGE, message_len));
    CHECK(!hashlane_mac_verify(in_progress, mac, mac_len));
    CHECK(!hashlane_mac_update(in_progress, JEFE_MESSAGE, message_len - 1));
    CHECK(hashlane_mac_verify(in_progress, mac, mac_len) == HASHLANE_ERROR_TAG_MISMATCH);
    CHECK(!hashlane_mac_update(in_progress, JEFE_MESSAGE, message_len));
    CHECK(hashlane_mac_verify(in_progress, mac, mac_len - 1) == HASHLANE_ERROR_TAG_LENGTH);
    CHECK(!hashlane_mac_update(in_progress, JEFE_MESSAGE, message_len));
    CHECK(!hashlane_mac_verify_truncated(in_progress, mac, 16, 16));
    CHECK(hashlane_mac_verify_truncated(in_progress, mac, 16, 16) == HASHLANE_ERROR_TAG_MISMATCH);
    hashlane_mac_free(in_progress);
}

static void all(const hashlane_engine *engine) {
    digests(engine);
    hashers(engine, HASHLANE_SHA1, ABC_SHA1, TWO_BLOCKS_SHA1);
    hashers(engine, HASHLANE_SHA256, ABC_SHA256, TWO_BLOCKS_SHA256);
    macs(engine, HASHLANE_SHA1, JEFE_SHA1);
    macs(engine, HASHLANE_SHA256, JEFE_SHA256);
}

int main(void) {
    const char *name;
    size_t index, n_engines = 0;
    all(NULL);
    for (index = 0; (name = hashlane_backend_name(index)) != NULL; index++) {
        hashlane_engine *engine;
        hashlane_error error = hashlane_engine_new(name, &engine);
        if (error == HASHLANE_ERROR_UNAVAILABLE_BACKEND) {
            CHECK(engine == NULL);
            continue;
        }
        CHECK(error == HASHLANE_ERROR_NONE);
        all(engine);
        hashlane_engine_free(engine);
        n_engines++;
    }
    CHECK(n_engines >= 1); /* portable, at least */
    return 0;
}
