/*
 * OpenSSL's ways to hash one message. Each function hashes `n` messages of `len` bytes, end to end,
 * one after the other. The fetched algorithm and the context are set up once per call, so that their
 * cost vanishes with many messages.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

const char *bench_openssl_version(void)
{
        return OpenSSL_version(OPENSSL_VERSION);
}

static void require(int ok)
{
        if (!ok)
                abort();
}

/* EVP_Digest with an algorithm fetched beforehand. */
static void evp_digest(const char *name, size_t digest_len, const uint8_t *messages, size_t len,
                       size_t n, uint8_t *digests)
{
        EVP_MD *md = EVP_MD_fetch(NULL, name, NULL);

        require(md != NULL);
        for (size_t i = 0; i < n; i++)
                require(EVP_Digest(messages + i * len, len, digests + i * digest_len, NULL, md,
                                   NULL));
        EVP_MD_free(md);
}

/* EVP_DigestInit_ex, _Update and _Final_ex in a context that is reused. */
static void evp_context(const char *name, size_t digest_len, const uint8_t *messages, size_t len,
                        size_t n, uint8_t *digests)
{
        EVP_MD *md = EVP_MD_fetch(NULL, name, NULL);
        EVP_MD_CTX *context = EVP_MD_CTX_new();

        require(md != NULL && context != NULL);
        for (size_t i = 0; i < n; i++) {
                require(EVP_DigestInit_ex(context, md, NULL));
                require(EVP_DigestUpdate(context, messages + i * len, len));
                require(EVP_DigestFinal_ex(context, digests + i * digest_len, NULL));
        }
        EVP_MD_CTX_free(context);
        EVP_MD_free(md);
}

#define HASHES(name, NAME, CONTEXT, LEN)                                                           \
        void bench_openssl_##name##_one_shot(const uint8_t *messages, size_t len, size_t n,        \
                                             uint8_t *digests)                                     \
        {                                                                                          \
                for (size_t i = 0; i < n; i++)                                                     \
                        NAME(messages + i * len, len, digests + i * LEN);                          \
        }                                                                                          \
                                                                                                   \
        void bench_openssl_##name##_stream(const uint8_t *messages, size_t len, size_t n,          \
                                           uint8_t *digests)                                       \
        {                                                                                          \
                CONTEXT context;                                                                   \
                                                                                                   \
                for (size_t i = 0; i < n; i++) {                                                   \
                        NAME##_Init(&context);                                                     \
                        NAME##_Update(&context, messages + i * len, len);                          \
                        NAME##_Final(digests + i * LEN, &context);                                 \
                }                                                                                  \
        }                                                                                          \
                                                                                                   \
        void bench_openssl_##name##_evp_digest(const uint8_t *messages, size_t len, size_t n,      \
                                               uint8_t *digests)                                   \
        {                                                                                          \
                evp_digest(#NAME, LEN, messages, len, n, digests);                                 \
        }                                                                                          \
                                                                                                   \
        void bench_openssl_##name##_evp_context(const uint8_t *messages, size_t len, size_t n,     \
                                                uint8_t *digests)                                  \
        {                                                                                          \
                evp_context(#NAME, LEN, messages, len, n, digests);                                \
        }

HASHES(sha1, SHA1, SHA_CTX, 20)
HASHES(sha256, SHA256, SHA256_CTX, 32)
HASHES(md5, MD5, MD5_CTX, 16)
