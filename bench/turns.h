/*
 * Measures two libraries that hash the same messages, and prints the nanoseconds per message of each round as JSON. The
 * libraries take turns, so that other load affects both. bench/pairs.py writes the report.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, BYTES_PER_ROUND = 16 << 20, LONGEST = 1 << 20 };

static unsigned char message[LONGEST];

/* Hashes messages of `len` bytes for a round, and writes the last digest. Returns nanoseconds per message. */
typedef double (*time_function)(const void *library, size_t len, unsigned char *digest);

/* CPU time: waiting for a core is not counted. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fill_message(void)
{
    for (size_t i = 0; i < LONGEST; i++)
        message[i] = (unsigned char)(i * 2654435761U >> 13);
}

static void print_times(const char *key, const double *times)
{
    printf(", \"%s\": [", key);
    for (int round = 0; round < ROUNDS; round++)
        printf("%s%.4f", round ? ", " : "", times[round]);
    putchar(']');
}

/* Prints a line of JSON for each length. Returns 0 if the libraries compute different digests. */
static int compare(const char *program, const char *name, time_function time, const void *const libraries[2])
{
    static const size_t lengths[] = {64, 1024, 16384, LONGEST};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        double times[2][ROUNDS];
        unsigned char digests[2][32] = {{0}, {0}};
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < 2; i++)
                times[i][round] = time(libraries[i], lengths[l], digests[i]);
        if (memcmp(digests[0], digests[1], sizeof digests[0]) != 0) {
            fprintf(stderr, "%s: %s of %zu bytes differs\n", program, name, lengths[l]);
            return 0;
        }
        printf("{\"name\": \"%s\", \"len\": %zu", name, lengths[l]);
        print_times("first", times[0]);
        print_times("second", times[1]);
        puts("}");
    }
    return 1;
}

#endif
