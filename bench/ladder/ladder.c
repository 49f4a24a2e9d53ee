/* Hashes the pieces of a file, compares the digests, and prints the seconds of CPU time that this took.
 *
 *     ladder METHOD FILE DIGESTS
 *
 * METHOD is one of:
 *     plain    SHA-1 in portable C, as FIPS 180-4 states it
 *     openssl  SHA1() of OpenSSL, one piece after another
 *     md5      EVP_Digest() of OpenSSL with MD5, one piece after another
 *     single   hashlane_digest(), one piece after another
 *     many     hashlane_digest_many(), all pieces at once
 *
 * DIGESTS has a digest for each piece: MD5 for the method md5, SHA-1 otherwise. HASHLANE_BACKEND
 * selects the backend of Hashlane.
 * Exit status: 0 all pieces are right, 1 a piece is wrong, 2 an error.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hashlane.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

enum { PIECE_LEN = 262144, DIGEST_LEN = 20, MD5_LEN = 16, BLOCK_LEN = 64 };

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static uint32_t rotate_left(uint32_t word, int n) { return word << n | word >> (32 - n); }

/* The compression of one block: FIPS 180-4, section 6.1.2. */
static void plain_compress(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80];
    for (int t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16
            | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    }
    for (int t = 16; t < 80; t++) {
        w[t] = rotate_left(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
#define ROUNDS(first, f, k)                                          \
    for (int t = first; t < first + 20; t++) {                       \
        const uint32_t sum = rotate_left(a, 5) + (f) + e + k + w[t]; \
        e = d;                                                       \
        d = c;                                                       \
        c = rotate_left(b, 30);                                      \
        b = a;                                                       \
        a = sum;                                                     \
    }
    ROUNDS(0, (b & c) ^ (~b & d), 0x5a827999)
    ROUNDS(20, b ^ c ^ d, 0x6ed9eba1)
    ROUNDS(40, (b & c) ^ (b & d) ^ (c & d), 0x8f1bbcdc)
    ROUNDS(60, b ^ c ^ d, 0xca62c1d6)
#undef ROUNDS
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static void plain_sha1(const unsigned char *message, size_t len, unsigned char digest[DIGEST_LEN])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t rest = len;
    for (; rest >= BLOCK_LEN; rest -= BLOCK_LEN, message += BLOCK_LEN) {
        plain_compress(state, message);
    }
    unsigned char tail[2 * BLOCK_LEN] = {0};
    memcpy(tail, message, rest);
    tail[rest] = 0x80;
    const size_t tail_len = rest < BLOCK_LEN - 8 ? BLOCK_LEN : 2 * BLOCK_LEN;
    for (int i = 0; i < 8; i++) {
        tail[tail_len - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    }
    for (size_t begin = 0; begin < tail_len; begin += BLOCK_LEN) {
        plain_compress(state, tail + begin);
    }
    for (int i = 0; i < DIGEST_LEN; i++) {
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

/* The engine of HASHLANE_BACKEND, or the best one. */
static hashlane_engine *engine;

static void check(hashlane_error error)
{
    if (error != HASHLANE_ERROR_NONE) {
        fprintf(stderr, "ladder: %s\n", hashlane_error_message(error));
        exit(2);
    }
}

static void hash_many(const unsigned char *content, size_t len, size_t n_pieces, unsigned char *digests)
{
    const void **pieces = malloc(n_pieces * sizeof *pieces);
    size_t *lens = malloc(n_pieces * sizeof *lens);
    if (!pieces || !lens) fail("malloc");
    for (size_t i = 0; i < n_pieces; i++) {
        const size_t begin = i * PIECE_LEN;
        pieces[i] = content + begin;
        lens[i] = len - begin < PIECE_LEN ? len - begin : PIECE_LEN;
    }
    check(hashlane_digest_many(engine, HASHLANE_SHA1, pieces, lens, n_pieces, digests));
    free(pieces);
    free(lens);
}

static void hash_each(
    const char *method, const unsigned char *content, size_t len, size_t n_pieces, unsigned char *digests,
    size_t digest_len)
{
    for (size_t i = 0; i < n_pieces; i++) {
        const size_t begin = i * PIECE_LEN;
        const size_t piece_len = len - begin < PIECE_LEN ? len - begin : PIECE_LEN;
        unsigned char *const digest = digests + i * digest_len;
        if (strcmp(method, "plain") == 0) {
            plain_sha1(content + begin, piece_len, digest);
        } else if (strcmp(method, "openssl") == 0) {
            if (!SHA1(content + begin, piece_len, digest)) fail("SHA1");
        } else if (strcmp(method, "md5") == 0) {
            if (!EVP_Digest(content + begin, piece_len, digest, NULL, EVP_md5(), NULL)) fail("EVP_Digest");
        } else {
            check(hashlane_digest(engine, HASHLANE_SHA1, content + begin, piece_len, digest));
        }
    }
}

int main(int argc, char **argv)
{
    const char *const methods[] = {"plain", "openssl", "md5", "single", "many"};
    int is_known = 0;
    for (int i = 0; i < 5; i++) is_known |= argc == 4 && strcmp(argv[1], methods[i]) == 0;
    if (!is_known) {
        fputs("usage: ladder plain|openssl|md5|single|many FILE DIGESTS\n", stderr);
        return 2;
    }
    const size_t digest_len = strcmp(argv[1], "md5") == 0 ? MD5_LEN : DIGEST_LEN;
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    /* The library reads no variable itself: NULL if it is not set. */
    check(hashlane_engine_new(getenv("HASHLANE_BACKEND"), &engine));
    const int file = open(argv[2], O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail(argv[2]);
    const size_t len = (size_t)status.st_size;
    const size_t n_pieces = (len + PIECE_LEN - 1) / PIECE_LEN;
    const unsigned char *const content = mmap(NULL, len, PROT_READ, MAP_PRIVATE, file, 0);
    if (content == MAP_FAILED) fail("mmap");
    unsigned char *const digests = malloc(2 * n_pieces * digest_len);
    if (!digests) fail("malloc");
    unsigned char *const expected = digests + n_pieces * digest_len;
    FILE *const list = fopen(argv[3], "rb");
    if (!list || fread(expected, digest_len, n_pieces, list) != n_pieces) fail(argv[3]);
    fclose(list);
    if (strcmp(argv[1], "many") == 0) {
        hash_many(content, len, n_pieces, digests);
    } else {
        hash_each(argv[1], content, len, n_pieces, digests, digest_len);
    }
    const int is_right = memcmp(digests, expected, n_pieces * digest_len) == 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    free(digests);
    hashlane_engine_free(engine);
    if (!is_right) {
        fputs("ladder: a piece is wrong\n", stderr);
        return 1;
    }
    const double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    return printf("%.6f\n", seconds) < 0 || fflush(stdout) != 0 ? 2 : 0;
}
