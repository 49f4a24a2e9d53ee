/*
 * Hashes in eight threads at once, each with its own context. The first calls of the process, which choose the
 * kernels, happen at the same time. Exit status: 0 all digests right, 1 not.
 */
#include <pthread.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, MESSAGES = 300 };

static pthread_barrier_t start;

/* Returns its argument if all digests are right (FIPS 180-4, "abc"), and null if not. */
static void *hash(void *argument)
{
    const unsigned char *abc = (const unsigned char *)"abc";
    char text[SHA256_DIGEST_STRING_LENGTH];
    pthread_barrier_wait(&start);
    for (int i = 0; i < MESSAGES; i++) {
        SHA1_CTX sha1;
        SHA1Init(&sha1);
        SHA1Update(&sha1, abc, 1);
        SHA1Update(&sha1, abc + 1, 2);
        if (strcmp(SHA1End(&sha1, text), "a9993e364706816aba3e25717850c26c9cd0d89d") != 0)
            return NULL;
        SHA2_CTX sha256;
        SHA256Init(&sha256);
        SHA256Update(&sha256, abc, 3);
        if (strcmp(SHA256End(&sha256, text),
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") != 0)
            return NULL;
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    int wrong = 0;
    if (pthread_barrier_init(&start, NULL, THREADS) != 0)
        return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, hash, &start) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        if (pthread_join(threads[i], &result) != 0)
            return 2;
        wrong += result == NULL;
    }
    if (wrong)
        fprintf(stderr, "%d of %d threads computed a wrong digest\n", wrong, THREADS);
    return wrong != 0;
}
