/*
 * Compares the speed of two libraries that hash the same messages, and prints rows of a table in Markdown.
 *
 * The libraries take turns, so that other load affects both. Each figure is the median of the rounds, and the factor is the
 * median of the factors of the rounds.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, BYTES_PER_ROUND = 16 << 20, LONGEST = 1 << 20 };

static unsigned char message[LONGEST];

/* Hashes messages of `len` bytes for a round, and writes the last digest. Returns bytes per second. */
typedef double (*rate_function)(const void *library, size_t len, unsigned char *digest);

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

static void fill_message(void)
{
    for (size_t i = 0; i < LONGEST; i++)
        message[i] = (unsigned char)(i * 2654435761U >> 13);
}

/* Prints a row for each length. Returns 0 if the libraries compute different digests. */
static int compare(const char *program, const char *name, rate_function rate, const void *const libraries[2])
{
    static const size_t lengths[] = {64, 1024, 16384, LONGEST};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        double rates[2][ROUNDS], factors[ROUNDS];
        unsigned char digests[2][32] = {{0}, {0}};
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < 2; i++)
                rates[i][round] = rate(libraries[i], lengths[l], digests[i]);
            factors[round] = rates[1][round] / rates[0][round];
        }
        if (memcmp(digests[0], digests[1], sizeof digests[0]) != 0) {
            fprintf(stderr, "%s: %s of %zu bytes differs\n", program, name, lengths[l]);
            return 0;
        }
        printf("| %s | %zu | %.0f | %.0f | %.2f |\n", name, lengths[l], median(rates[0]) / 1e6, median(rates[1]) / 1e6,
               median(factors));
    }
    return 1;
}

#endif
