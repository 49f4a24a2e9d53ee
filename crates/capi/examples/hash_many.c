/* Hashes 1,000 messages at once and prints the first and the last digest. */
#include <hashlane.h>
#include <stdio.h>
#include <string.h>

enum { N_MESSAGES = 1000 };

static void print(const char *message, const uint8_t *digest) {
    size_t i;
    for (i = 0; i < HASHLANE_SHA1_LEN; i++) {
        printf("%02x", digest[i]);
    }
    printf("  %s\n", message);
}

int main(void) {
    static char texts[N_MESSAGES][32];
    static const void *messages[N_MESSAGES];
    static size_t lens[N_MESSAGES];
    static uint8_t digests[N_MESSAGES][HASHLANE_SHA1_LEN];
    hashlane_error error;
    size_t i;

    for (i = 0; i < N_MESSAGES; i++) {
        snprintf(texts[i], sizeof texts[i], "message %u", (unsigned)i);
        messages[i] = texts[i];
        lens[i] = strlen(texts[i]);
    }
    error = hashlane_digest_many(NULL, HASHLANE_SHA1, messages, lens, N_MESSAGES, digests[0]);
    if (error) {
        fprintf(stderr, "hash_many: %s\n", hashlane_error_message(error));
        return 1;
    }
    print(texts[0], digests[0]);
    print(texts[N_MESSAGES - 1], digests[N_MESSAGES - 1]);
    return fflush(stdout) == 0 ? 0 : 1;
}
