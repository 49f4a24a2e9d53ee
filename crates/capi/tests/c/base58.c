/* Base58Check strings encoded, decoded and recovered. */
#include <hashlane.h>

#include "check.h"

/* An example of the documentation of Bitcoin addresses: version 0 and a hash of 20 bytes. */
static const char ADDRESS[] = "16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvM";
static const char PAYLOAD[] = "00010966776006953d5567439e5e39f86a0d273bee";

static void encode_and_decode(void) {
    uint8_t payload[25], ripple[25];
    char text[64];
    size_t len = 0;
    CHECK(!hashlane_base58check_decode(HASHLANE_BASE58_BITCOIN, ADDRESS, payload, sizeof payload, &len));
    CHECK(len == 21);
    CHECK_HEX(payload, PAYLOAD);
    CHECK(!hashlane_base58check_encode(HASHLANE_BASE58_BITCOIN, payload, len, text, sizeof text, &len));
    CHECK(strcmp(text, ADDRESS) == 0 && len == strlen(ADDRESS));
    CHECK(!hashlane_base58check_encode(HASHLANE_BASE58_RIPPLE, payload, 21, text, sizeof text, NULL));
    CHECK(text[0] == 'r');
    CHECK(!hashlane_base58check_decode(HASHLANE_BASE58_RIPPLE, text, ripple, sizeof ripple, NULL));
    CHECK(memcmp(ripple, payload, 21) == 0);
    CHECK(!hashlane_base58check_encode(HASHLANE_BASE58_BITCOIN, NULL, 0, text, sizeof text, NULL));
    CHECK(!hashlane_base58check_decode(HASHLANE_BASE58_BITCOIN, text, NULL, 0, &len));
    CHECK(len == 0);
}

static void errors(void) {
    static char long_text[HASHLANE_BASE58_MAX_LEN + 2], bytes[HASHLANE_BASE58_MAX_LEN + 1];
    uint8_t payload[25] = {0xee};
    char text[64] = "x";
    size_t len = 0;
    hashlane_error error;
    memset(long_text, '1', sizeof long_text - 1);
    CHECK(hashlane_base58check_decode(99, ADDRESS, payload, 25, &len) == HASHLANE_ERROR_UNKNOWN_ALPHABET);
    CHECK(hashlane_base58check_encode(99, "a", 1, text, 64, &len) == HASHLANE_ERROR_UNKNOWN_ALPHABET);
    CHECK(hashlane_base58check_decode(1, NULL, payload, 25, &len) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_base58check_decode(1, ADDRESS, NULL, 25, &len) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_base58check_decode(1, ADDRESS, payload, 20, &len) == HASHLANE_ERROR_BUFFER_TOO_SMALL);
    CHECK(len == 21);
    CHECK(hashlane_base58check_decode(1, long_text, payload, 25, &len) == HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_base58check_encode(1, bytes, sizeof bytes, text, 64, &len) == HASHLANE_ERROR_LENGTH_TOO_LARGE);
    CHECK(hashlane_base58check_encode(1, NULL, 1, text, 64, &len) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_base58check_encode(1, "a", 1, NULL, 64, &len) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_base58check_encode(1, "a", 1, text, 3, &len) == HASHLANE_ERROR_BUFFER_TOO_SMALL);
    CHECK(payload[0] == 0xee && text[0] == 'x' && len > 3);
    error = hashlane_base58check_decode(1, "16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvN", payload, 25, &len);
    CHECK(error == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(strstr(hashlane_error_details(error), "checksum") != NULL);
    error = hashlane_base58check_decode(1, "16Uw0", payload, 25, &len);
    CHECK(error == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(strstr(hashlane_error_details(error), "character 5") != NULL);
    CHECK(hashlane_base58check_decode(1, "\xff", payload, 25, &len) == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(hashlane_base58check_decode(1, "1", payload, 25, &len) == HASHLANE_ERROR_INVALID_TEXT);
}

struct found {
    int n_hits;
    int cancels;
    double progress;
    char text[64];
};

static int on_hit(void *context, const hashlane_recover_hit *hit, double progress) {
    struct found *found = (struct found *)context;
    CHECK(progress >= found->progress && progress <= 1);
    found->progress = progress;
    if (hit != NULL) {
        CHECK(strcmp(hit->kind, "p2pkh") == 0 && hit->is_secret == 0 && hit->payload_len == 21);
        CHECK_HEX(hit->payload, PAYLOAD);
        CHECK(strlen(hit->text) < sizeof found->text);
        strcpy(found->text, hit->text);
        found->n_hits++;
    }
    return found->cancels;
}

/* Without the two searches that take minutes under valgrind, if `is_short`. */
static void recover(int is_short) {
    const char *kinds[] = {"p2pkh"}, *unknown[] = {"p2pkh", "b2c"};
    struct found found = {0, 0, 0, ""};
    hashlane_error error;
    CHECK(!hashlane_recover("16UwLL9Risc3QfPqBUvKofHmBQ7w??jvM", 0, 0, kinds, 1, 1, on_hit, &found));
    CHECK(found.n_hits == 1 && strcmp(found.text, ADDRESS) == 0);
    if (!is_short) {
        memset(&found, 0, sizeof found);
        CHECK(!hashlane_recover("16uwll9risc3qfpqbuvkofhmbq7wmtjvm", HASHLANE_DAMAGE_CASE, 0, kinds, 1, 0, on_hit, &found));
        CHECK(found.n_hits == 1 && strcmp(found.text, ADDRESS) == 0);
        memset(&found, 0, sizeof found);
        CHECK(!hashlane_recover("16UwLL9Risc3QfPqBUvK0fHmBQ7wMtjvM", HASHLANE_DAMAGE_GLYPHS, 0, NULL, 0, 0, on_hit, &found));
        CHECK(found.n_hits == 1 && strcmp(found.text, ADDRESS) == 0);
    }
    memset(&found, 0, sizeof found);
    CHECK(!hashlane_recover("16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvN", 0, 1, kinds, 1, 0, on_hit, &found));
    CHECK(found.n_hits == 1 && strcmp(found.text, ADDRESS) == 0);
    memset(&found, 0, sizeof found);
    CHECK(!hashlane_recover("16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvN", 0, 0, kinds, 1, 0, on_hit, &found));
    CHECK(found.n_hits == 0);

    found.cancels = 1;
    CHECK(hashlane_recover("16UwLL9Risc3QfPqBU?????mBQ7wMtjvM", 0, 0, kinds, 1, 0, on_hit, &found) ==
          HASHLANE_ERROR_CANCELLED);
    CHECK(hashlane_recover("16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvN", HASHLANE_DAMAGE_CASE | 1u << 31, 0, kinds, 1, 0, on_hit, &found) ==
          HASHLANE_ERROR_UNKNOWN_DAMAGE);
    CHECK(hashlane_recover(NULL, 0, 0, kinds, 1, 0, on_hit, &found) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_recover(ADDRESS, 0, 0, NULL, 1, 0, on_hit, &found) == HASHLANE_ERROR_NULL_POINTER);
    CHECK(hashlane_recover(ADDRESS, 0, 0, kinds, 1, 0, NULL, &found) == HASHLANE_ERROR_NULL_POINTER);
    error = hashlane_recover(ADDRESS, 0, 0, unknown, 2, 0, on_hit, &found);
    CHECK(error == HASHLANE_ERROR_UNKNOWN_KIND);
    CHECK(strstr(hashlane_error_details(error), "b2c") != NULL);
    CHECK(hashlane_recover("", 0, 0, kinds, 1, 0, on_hit, &found) == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(hashlane_recover("16U+", 0, 0, kinds, 1, 0, on_hit, &found) == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(hashlane_recover("\xff", 0, 0, kinds, 1, 0, on_hit, &found) == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(hashlane_recover(ADDRESS, 0, 3, kinds, 1, 0, on_hit, &found) == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(hashlane_recover(ADDRESS, 0, 256, kinds, 1, 0, on_hit, &found) == HASHLANE_ERROR_INVALID_TEXT);
    CHECK(hashlane_recover("?????????????????????????????????", 0, 0, kinds, 1, 0, on_hit, &found) ==
          HASHLANE_ERROR_SEARCH_TOO_LARGE);
}

int main(int argc, char **argv) {
    (void)argv;
    encode_and_decode();
    errors();
    recover(argc > 1);
    return 0;
}
