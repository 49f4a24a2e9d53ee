/*
 * Compares the speed of two libraries with libmd's functions: hashes messages of several lengths with Init, Update
 * and Final, and prints a table in Markdown.
 *
 *     bench-libmd /usr/lib/x86_64-linux-gnu/libmd.so.0 target/release/libmd.so.0
 *
 * The libraries take turns, so that other load meets both. Each figure is the median of the rounds, and the factor
 * is the median of the factors of the rounds. Exit status: 0 measured, 1 digests differ, 2 not measured.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, BYTES_PER_ROUND = 16 << 20, LONGEST = 1 << 20 };

/* Functions of either algorithm: the contexts and the digest are passed as plain memory. */
struct functions {
    void (*init)(void *);
    void (*update)(void *, const unsigned char *, size_t);
    void (*final)(unsigned char *, void *);
};

static unsigned char message[LONGEST];

/* CPU time: waiting for a core is not counted. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

/* Hashes messages of `len` bytes for a round. Returns bytes per second. */
static double rate(const struct functions *functions, size_t len, unsigned char *digest)
{
    union {
        SHA1_CTX sha1;
        SHA2_CTX sha2;
    } context;
    size_t messages = BYTES_PER_ROUND / len;
    double start = now();
    for (size_t i = 0; i < messages; i++) {
        functions->init(&context);
        functions->update(&context, message, len);
        functions->final(digest, &context);
    }
    return (double)(messages * len) / (now() - start);
}

static int load(struct functions *functions, void *library, const char *algorithm)
{
    char name[32];
    void **pointers[] = {(void **)&functions->init, (void **)&functions->update, (void **)&functions->final};
    const char *suffixes[] = {"Init", "Update", "Final"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", algorithm, suffixes[i]);
        *pointers[i] = dlsym(library, name);
        if (!*pointers[i]) {
            fprintf(stderr, "bench-libmd: %s\n", dlerror());
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const char *algorithms[] = {"SHA1", "SHA256"};
    static const size_t lengths[] = {64, 1024, 16384, LONGEST};
    if (argc != 3) {
        fprintf(stderr, "usage: bench-libmd LIBRARY LIBRARY\n");
        return 2;
    }
    void *libraries[2];
    for (int i = 0; i < 2; i++) {
        libraries[i] = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
        if (!libraries[i]) {
            fprintf(stderr, "bench-libmd: %s\n", dlerror());
            return 2;
        }
    }
    for (size_t i = 0; i < LONGEST; i++)
        message[i] = (unsigned char)(i * 2654435761U >> 13);
    printf("| function | bytes per message | libmd, MB/s | hashlane, MB/s | factor |\n|---|--:|--:|--:|--:|\n");
    for (int a = 0; a < 2; a++) {
        struct functions functions[2];
        if (!load(&functions[0], libraries[0], algorithms[a]) || !load(&functions[1], libraries[1], algorithms[a]))
            return 2;
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            double rates[2][ROUNDS], factors[ROUNDS];
            unsigned char digests[2][32] = {{0}, {0}};
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < 2; i++)
                    rates[i][round] = rate(&functions[i], lengths[l], digests[i]);
                factors[round] = rates[1][round] / rates[0][round];
            }
            if (memcmp(digests[0], digests[1], sizeof digests[0]) != 0) {
                fprintf(stderr, "bench-libmd: %s of %zu bytes differs\n", algorithms[a], lengths[l]);
                return 1;
            }
            printf("| %s | %zu | %.0f | %.0f | %.2f |\n", algorithms[a], lengths[l], median(rates[0]) / 1e6,
                   median(rates[1]) / 1e6, median(factors));
        }
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
