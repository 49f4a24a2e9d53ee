/* Known answers by every function that hashes: FIPS 180-4 examples, RFC 1321, RFC 2202 and RFC 4231. */
#include <hashlane.h>

#include "check.h"

static const char TWO_BLOCKS[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
static const char JEFE_MESSAGE[] = "what do ya want for nothing?";

/* An algorithm with the digests of "abc" and of TWO_BLOCKS, and the MAC of JEFE_MESSAGE under the key "Jefe". */
struct answers {
    hashlane_algorithm algorithm;
    const char *abc, *two_blocks, *jefe;
};
static const struct answers ANSWERS[] = {
    {HASHLANE_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
     "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
    {HASHLANE_SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {HASHLANE_SHA224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
     "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525",
     "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"},
    {HASHLANE_SHA384,
     "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
     "8086072ba1e7cc2358baeca134c825a7",
     "3391fdddfc8dc7393707a65b1b4709397cf8b1d162af05abfe8f450de5f36bc6"
     "b0455a8520bc4e6f5fe95b1fe3c8452b",
     "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
     "8e2240ca5e69e2c78b3239ecfab21649"},
    {HASHLANE_SHA512,
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
     "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
     "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445",
     "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
     "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
    {HASHLANE_MD5, "900150983cd24fb0d6963f7d28e17f72", "8215ef0796a20bcaaae116d3876c664a", "750c783e6ab0b503eaa86e310a5db738"},
};
enum { N_ALGORITHMS = sizeof ANSWERS / sizeof *ANSWERS };

static void digests(const hashlane_engine *engine, const struct answers *answers) {
    uint8_t digest[HASHLANE_MAX_DIGEST_LEN + 1];
    const size_t digest_len = hashlane_digest_len(answers->algorithm);
    CHECK(digest_len == strlen(answers->abc) / 2 && digest_len <= HASHLANE_MAX_DIGEST_LEN);
    memset(digest, 0xee, sizeof digest);
    CHECK(hashlane_digest(engine, answers->algorithm, "abc", 3, digest) == HASHLANE_ERROR_NONE);
    CHECK_HEX(digest, answers->abc);
    CHECK(digest[digest_len] == 0xee);

    /* The digest may overwrite the message. */
    memcpy(digest, "abc", 3);
    CHECK(hashlane_digest(engine, answers->algorithm, digest, 3, digest) == HASHLANE_ERROR_NONE);
    CHECK_HEX(digest, answers->abc);
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
    const size_t short_len = mac_len < 32 ? 16 : mac_len / 2;
    int round;
    CHECK(!hashlane_hmac(engine, algorithm, "Jefe", 4, JEFE_MESSAGE, message_len, mac));
    CHECK_HEX(mac, expected);

    CHECK(!hashlane_hmac_key_new(engine, algorithm, "Jefe", 4, &key));
    memset(mac, 0, sizeof mac);
    CHECK(!hashlane_hmac_key_mac(key, JEFE_MESSAGE, message_len, mac));
    CHECK_HEX(mac, expected);
    CHECK(!hashlane_hmac_key_verify(key, JEFE_MESSAGE, message_len, mac, mac_len));

    /* RFC 2104, section 5: at least 10 bytes, and at least half of the MAC. */
    CHECK(mac_len < 40 || hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, 16, 16) ==
                              HASHLANE_ERROR_TRUNCATED_LENGTH);
    CHECK(!hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, short_len, short_len));
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, short_len - 1, short_len) ==
          HASHLANE_ERROR_TAG_LENGTH);
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, 9, 9) ==
          HASHLANE_ERROR_TRUNCATED_LENGTH);
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len, mac, mac_len,
                                             mac_len + 1) == HASHLANE_ERROR_TRUNCATED_LENGTH);
    CHECK(hashlane_hmac_key_verify_truncated(key, JEFE_MESSAGE, message_len - 1, mac, short_len, short_len) ==
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
    CHECK(!hashlane_mac_verify_truncated(in_progress, mac, short_len, short_len));
    CHECK(hashlane_mac_verify_truncated(in_progress, mac, short_len, short_len) == HASHLANE_ERROR_TAG_MISMATCH);
    hashlane_mac_free(in_progress);
}

static void all(const hashlane_engine *engine, const struct answers *answers) {
    digests(engine, answers);
    hashers(engine, answers->algorithm, answers->abc, answers->two_blocks);
    macs(engine, answers->algorithm, answers->jefe);
}

int main(void) {
    const char *name;
    size_t index, algorithm, n_engines = 0;
    for (algorithm = 0; algorithm < N_ALGORITHMS; algorithm++) {
        all(NULL, &ANSWERS[algorithm]);
    }
    for (index = 0; (name = hashlane_backend_name(index)) != NULL; index++) {
        hashlane_engine *engine;
        hashlane_error error = hashlane_engine_new(name, &engine);
        if (error == HASHLANE_ERROR_UNAVAILABLE_BACKEND) {
            CHECK(engine == NULL);
            continue;
        }
        CHECK(error == HASHLANE_ERROR_NONE);
        for (algorithm = 0; algorithm < N_ALGORITHMS; algorithm++) {
            all(engine, &ANSWERS[algorithm]);
        }
        hashlane_engine_free(engine);
        n_engines++;
    }
    CHECK(n_engines >= 1); /* portable, at least */
    return 0;
}
