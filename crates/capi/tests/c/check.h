/* Checks of the test programs. A failed check names its place and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

/* Makes a structure ready for a call: all bytes are 0, except its size. */
#define PREPARE(structure) (memset(&(structure), 0, sizeof(structure)), (structure).struct_size = sizeof(structure))

/* Checks that the bytes have these lower-case hexadecimal digits. */
#define CHECK_HEX(bytes, digits)                                                 \
    do {                                                                         \
        char found[2 * HASHLANE_MAX_DIGEST_LEN + 1];                             \
        size_t n_bytes = strlen(digits) / 2, at;                                 \
        for (at = 0; at < n_bytes; at++) {                                       \
            snprintf(found + 2 * at, 3, "%02x", (unsigned)(bytes)[at]);          \
        }                                                                        \
        if (strcmp(found, (digits)) != 0) {                                      \
            fprintf(stderr, "%s:%d: found %s, expected %s\n", __FILE__, __LINE__, found, (digits)); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

#endif
