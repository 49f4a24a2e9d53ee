/* Signs a message with HMAC-SHA-256 and checks the tag, as the receiver does. */
#include <hashlane.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *secret = "a secret of at least 16 bytes";
    const char *message = "transfer 100 to Alice";
    const char *forged = "transfer 999 to Alice";
    uint8_t tag[HASHLANE_SHA256_LEN];
    hashlane_hmac_key *key;
    hashlane_error error;
    int is_right = 0;

    error = hashlane_hmac_key_new(NULL, HASHLANE_SHA256, secret, strlen(secret), &key);
    if (!error) {
        error = hashlane_hmac_key_mac(key, message, strlen(message), tag);
    }
    if (!error) {
        /* The comparison takes constant time. memcmp() would help an attacker who measures time. */
        error = hashlane_hmac_key_verify(key, message, strlen(message), tag, sizeof tag);
        printf("message: %s\n", error ? hashlane_error_message(error) : "genuine");
    }
    if (!error) {
        hashlane_error result = hashlane_hmac_key_verify(key, forged, strlen(forged), tag, sizeof tag);
        is_right = result == HASHLANE_ERROR_TAG_MISMATCH;
        printf("forged message: %s\n", hashlane_error_message(result));
    }
    hashlane_hmac_key_free(key);
    if (error) {
        fprintf(stderr, "hmac: %s\n", hashlane_error_message(error));
    }
    return is_right && fflush(stdout) == 0 ? 0 : 1;
}
