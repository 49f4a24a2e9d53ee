/*
 * One function for Intel's Multi-Buffer Crypto for IPsec: the digests of `n` messages of `len` bytes
 * each, end to end.
 *
 * The function submits jobs one by one and flushes at the end, as the library intends. As of version
 * 1.3 there is no other way: its bursts for hashes reject plain SHA-1 and SHA-256.
 */
#include <intel-ipsec-mb.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a manager for the CPU's best features, optionally without the SHA extensions. */
void *bench_ipsec_mb_new(int without_sha_ni)
{
        IMB_MGR *manager = alloc_mb_mgr(without_sha_ni ? IMB_FLAG_SHANI_OFF : 0);

        if (manager != NULL)
                init_mb_mgr_auto(manager, NULL);
        return manager;
}

void bench_ipsec_mb_free(void *manager)
{
        free_mb_mgr(manager);
}

const char *bench_ipsec_mb_version(void)
{
        return imb_get_version_str();
}

static void many(IMB_MGR *manager, IMB_HASH_ALG algorithm, size_t digest_len,
                 const uint8_t *messages, size_t len, size_t n, uint8_t *digests)
{
        for (size_t i = 0; i < n; i++) {
                IMB_JOB *job = IMB_GET_NEXT_JOB(manager);

                job->cipher_mode = IMB_CIPHER_NULL;
                job->cipher_direction = IMB_DIR_ENCRYPT;
                job->chain_order = IMB_ORDER_HASH_CIPHER;
                job->hash_alg = algorithm;
                job->src = messages + i * len;
                job->hash_start_src_offset_in_bytes = 0;
                job->msg_len_to_hash_in_bytes = len;
                job->auth_tag_output = digests + i * digest_len;
                job->auth_tag_output_len_in_bytes = digest_len;
                IMB_SUBMIT_JOB_NOCHECK(manager);
        }
        while (IMB_FLUSH_JOB(manager) != NULL)
                ;
}

void bench_ipsec_mb_sha1(void *manager, const uint8_t *messages, size_t len, size_t n,
                         uint8_t *digests)
{
        many(manager, IMB_AUTH_SHA_1, 20, messages, len, n, digests);
}

void bench_ipsec_mb_sha256(void *manager, const uint8_t *messages, size_t len, size_t n,
                           uint8_t *digests)
{
        many(manager, IMB_AUTH_SHA_256, 32, messages, len, n, digests);
}
