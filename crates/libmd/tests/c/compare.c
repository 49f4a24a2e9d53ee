/*
 * Compares two libraries, function by function, with the types and the prototypes of libmd's own headers.
 *
 *     compare libmd.so.0 ours.so FILE
 *
 * FILE is any file of several hundred thousand bytes. Exit status: 0 same, 1 different, 2 not compared.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition, ...)                                             \
    do {                                                                  \
        if (!(condition)) {                                               \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                 \
            fputc('\n', stderr);                                          \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

enum { THEIRS, OURS, LIBRARIES };
static void *library[LIBRARIES];

static void *symbol(int which, const char *name)
{
    void *found = dlvsym(library[which], name, "LIBMD_0.0");
    CHECK(found, "library %d: %s", which, dlerror());
    /* The function must be in the library itself, not in one that it loads. */
    Dl_info function, any;
    const char *probe = which == OURS ? "SHA1Init" : "MD5Init";
    CHECK(dladdr(found, &function) && dladdr(dlsym(library[which], probe), &any), "%s", name);
    CHECK(function.dli_fbase == any.dli_fbase, "%s is in %s", name, function.dli_fname);
    return found;
}

static unsigned long long seed = 1;
static size_t random_below(size_t bound)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return bound ? (seed >> 33) % bound : 0;
}

static unsigned char *data;
static size_t data_len = 300000;
static const char *file;

static void same_text(char *theirs, char *ours, const char *what, long long a, long long b)
{
    CHECK((theirs == NULL) == (ours == NULL), "%s %lld %lld: %p %p", what, a, b, (void *)theirs, (void *)ours);
    if (theirs)
        CHECK(strcmp(theirs, ours) == 0, "%s %lld %lld: %s %s", what, a, b, theirs, ours);
}

/* Defines check_NAME(), which compares the nine functions of one algorithm. */
#define ALGORITHM(NAME, CONTEXT, LEN, WORDS, N_BITS)                                                       \
    static struct {                                                                                        \
        __typeof__(NAME##Init) *init;                                                                      \
        __typeof__(NAME##Update) *update;                                                                  \
        __typeof__(NAME##Pad) *pad;                                                                        \
        __typeof__(NAME##Final) *final;                                                                    \
        __typeof__(NAME##Transform) *transform;                                                            \
        __typeof__(NAME##End) *end;                                                                        \
        __typeof__(NAME##File) *file;                                                                      \
        __typeof__(NAME##FileChunk) *file_chunk;                                                           \
        __typeof__(NAME##Data) *data;                                                                      \
    } NAME[LIBRARIES];                                                                                     \
    /* Compares what the context says of the message: bytes of the buffer beyond the count are garbage. */ \
    static void NAME##_same(const CONTEXT *theirs, const CONTEXT *ours, const char *what)                  \
    {                                                                                                      \
        size_t used = theirs->N_BITS / 8 % 64;                                                             \
        CHECK(theirs->N_BITS == ours->N_BITS, "%s", what);                                                 \
        CHECK(memcmp(&theirs->state, &ours->state, LEN) == 0, "%s", what);                                 \
        CHECK(memcmp(theirs->buffer, ours->buffer, used) == 0, "%s", what);                                \
    }                                                                                                      \
    /* Hashes a message in random parts: with their library, with ours, and with either by turns. */       \
    static void NAME##_stream(size_t len, size_t largest, int pad_at)                                      \
    {                                                                                                      \
        CONTEXT context[3];                                                                                \
        unsigned char digest[3][LEN + 16];                                                                 \
        memset(context, 0xa5, sizeof context);                                                             \
        memset(digest, 0x5a, sizeof digest);                                                               \
        for (int i = 0; i < 3; i++)                                                                        \
            NAME[i % 2].init(&context[i]);                                                                 \
        for (size_t at = 0, n = 0; at < len; at += n) {                                                    \
            int mixed = (int)random_below(LIBRARIES);                                                      \
            n = 1 + random_below(largest);                                                                 \
            n = n < len - at ? n : len - at;                                                               \
            for (int i = 0; i < 3; i++)                                                                    \
                NAME[i < 2 ? i : mixed].update(&context[i], data + at, n);                                 \
            if (pad_at && random_below(4) == 0) /* the manual allows updates after it */                   \
                for (int i = 0; i < 3; i++)                                                                \
                    NAME[i < 2 ? i : mixed].pad(&context[i]);                                              \
            NAME##_same(&context[0], &context[1], "ours");                                                 \
            NAME##_same(&context[0], &context[2], "by turns");                                             \
            NAME[OURS].update(&context[1], NULL, 0);                                                       \
        }                                                                                                  \
        CONTEXT saved[3];                                                                                  \
        memcpy(saved, context, sizeof saved);                                                              \
        int mixed = (int)random_below(LIBRARIES);                                                          \
        for (int i = 0; i < 3; i++)                                                                        \
            NAME[i < 2 ? i : mixed].final(digest[i], &context[i]);                                         \
        static const CONTEXT zeros;                                                                        \
        for (int i = 0; i < 3; i++) {                                                                      \
            CHECK(memcmp(digest[0], digest[i], sizeof digest[0]) == 0, "%zu bytes", len);                  \
            CHECK(memcmp(&context[i], &zeros, sizeof zeros) == 0, "not cleared");                          \
        }                                                                                                  \
        /* A null digest: only the padding. */                                                             \
        for (int i = 0; i < LIBRARIES; i++)                                                                \
            NAME[i].final(NULL, &saved[i]);                                                                \
        NAME##_same(&saved[0], &saved[1], "null digest");                                                  \
        char text[LIBRARIES][2 * LEN + 17], *allocated[LIBRARIES];                                         \
        memset(text, 0x33, sizeof text);                                                                   \
        for (int i = 0; i < LIBRARIES; i++) {                                                              \
            CHECK(NAME[i].end(&saved[2], text[i]) == text[i], "end");                                      \
            NAME[i].init(&saved[2]);                                                                       \
            CHECK(NAME[i].data(data, len, text[i]) == text[i], "data");                                    \
            allocated[i] = NAME[i].data(data, len, NULL);                                                  \
            CHECK(strcmp(allocated[i], text[i]) == 0, "allocated");                                        \
            free(allocated[i]);                                                                            \
            NAME[i].init(&saved[2]);                                                                       \
            NAME[i].update(&saved[2], data, len);                                                          \
            allocated[i] = NAME[i].end(&saved[2], NULL);                                                   \
            CHECK(strcmp(allocated[i], text[i]) == 0, "%s %s", allocated[i], text[i]);                     \
            CHECK(memcmp(&saved[2], &zeros, sizeof zeros) == 0, "not cleared");                            \
            free(allocated[i]);                                                                            \
            NAME[i].init(&saved[2]);                                                                       \
        }                                                                                                  \
        CHECK(memcmp(text[0], text[1], sizeof text[0]) == 0, "%s %s", text[0], text[1]);                   \
    }                                                                                                      \
    static void NAME##_chunk(const char *name, off_t offset, off_t length)                                 \
    {                                                                                                      \
        char text[LIBRARIES][2 * LEN + 17], *result[LIBRARIES];                                            \
        int errors[LIBRARIES];                                                                             \
        memset(text, 0x33, sizeof text);                                                                   \
        for (int i = 0; i < LIBRARIES; i++) {                                                              \
            errno = 0;                                                                                     \
            result[i] = NAME[i].file_chunk(name, text[i], offset, length);                                 \
            errors[i] = errno;                                                                             \
            CHECK(!result[i] || result[i] == text[i], "%s", name);                                         \
        }                                                                                                  \
        same_text(result[0], result[1], name, offset, length);                                             \
        CHECK(memcmp(text[0], text[1], sizeof text[0]) == 0, "%s", name);                                  \
        CHECK(result[0] || errors[0] == errors[1], "%s: errno %d %d", name, errors[0], errors[1]);         \
        if (offset == 0 && length == 0)                                                                    \
            for (int i = 0; i < LIBRARIES; i++) {                                                          \
                char *whole = NAME[i].file(name, NULL);                                                    \
                same_text(result[0], whole, "file", i, 0);                                                 \
                free(whole);                                                                               \
            }                                                                                              \
    }                                                                                                      \
    static void check_##NAME(int quick)                                                                    \
    {                                                                                                      \
        for (int i = 0; i < LIBRARIES; i++) {                                                              \
            NAME[i].init = symbol(i, #NAME "Init");                                                        \
            NAME[i].update = symbol(i, #NAME "Update");                                                    \
            NAME[i].pad = symbol(i, #NAME "Pad");                                                          \
            NAME[i].final = symbol(i, #NAME "Final");                                                      \
            NAME[i].transform = symbol(i, #NAME "Transform");                                              \
            NAME[i].end = symbol(i, #NAME "End");                                                          \
            NAME[i].file = symbol(i, #NAME "File");                                                        \
            NAME[i].file_chunk = symbol(i, #NAME "FileChunk");                                             \
            NAME[i].data = symbol(i, #NAME "Data");                                                        \
        }                                                                                                  \
        for (size_t len = 0; len <= 300; len += quick ? 7 : 1)                                             \
            for (int times = 0; times < (quick ? 1 : 12); times++)                                         \
                NAME##_stream(len, times % 2 ? 9 : 130, times % 3 == 2);                                   \
        static const size_t lengths[] = {4095, 4096, 8191, 8192, 8193, 16384, 65536 + 63, 300000};         \
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths - (quick ? 2 : 0); i++) {                  \
            NAME##_stream(lengths[i], 700, 0);                                                             \
            NAME##_stream(lengths[i], 40000, 0);                                                           \
            NAME##_stream(lengths[i], 40000, 1);                                                           \
        }                                                                                                  \
        uint32_t states[LIBRARIES][WORDS + 4];                                                             \
        for (int times = 0; times < 100; times++) {                                                        \
            memcpy(states[0], data + times, sizeof states[0]);                                             \
            memcpy(states[1], data + times, sizeof states[1]);                                             \
            for (int i = 0; i < LIBRARIES; i++)                                                            \
                NAME[i].transform(states[i], data + 100 + times);                                          \
            CHECK(memcmp(states[0], states[1], sizeof states[0]) == 0, "transform");                       \
        }                                                                                                  \
        static const off_t offsets[] = {0, 1, 4096, 8191, 100000, 1 << 30, -1, -5000};                     \
        static const off_t counts[] = {0, 1, 63, 8192, 8193, 16384, 16385, 100000, 1 << 30};               \
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)                                      \
            for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)                                    \
                NAME##_chunk(file, offsets[i], counts[j]);                                                 \
        NAME##_chunk("/dev/null", 0, 0);                                                                   \
        NAME##_chunk("/", 0, 0); /* opens, and cannot be read */                                           \
        NAME##_chunk("/missing/file", 0, 0);                                                               \
        NAME##_chunk("", 0, 0);                                                                            \
        if (!quick) /* Valgrind rejects what libmd passes to the kernel */                                 \
            NAME##_chunk(NULL, 0, 0);                                                                      \
        /* Beyond libmd: a negative length, and a file whose size is reported as 0. */                     \
        char whole[2 * LEN + 1], other[2 * LEN + 1];                                                       \
        CHECK(NAME[THEIRS].file(file, whole) && NAME[OURS].file_chunk(file, other, 0, -9), "negative");    \
        CHECK(strcmp(whole, other) == 0, "negative");                                                      \
        CHECK(NAME[OURS].file("/proc/self/cmdline", other), "/proc");                                      \
        CHECK(NAME[OURS].data(NULL, 0, whole) && strcmp(whole, other) != 0, "/proc");                      \
    }

ALGORITHM(SHA1, SHA1_CTX, 20, 5, count)
ALGORITHM(SHA256, SHA2_CTX, 32, 8, bitcount[0])

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "compare: LIBRARY LIBRARY FILE [quick]\n");
        return 2;
    }
    for (int i = 0; i < LIBRARIES; i++) {
        /* Theirs first, so that its own calls find its own functions. */
        library[i] = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
        if (!library[i]) {
            fprintf(stderr, "compare: %s\n", dlerror());
            return 2;
        }
    }
    file = argv[3];
    data = malloc(data_len);
    CHECK(data, "no memory");
    for (size_t i = 0; i < data_len; i++)
        data[i] = (unsigned char)random_below(256);
    check_SHA1(argc > 4);
    check_SHA256(argc > 4);
    free(data);
    puts("same");
    return 0;
}
