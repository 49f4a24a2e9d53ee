/*
 * Calls a function with an argument that libmd does not allow: `misuse CASE`. The library must end the process;
 * an exit status of 0 means that it returned.
 */
#include <sha1.h>
#include <sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    SHA1_CTX sha1;
    SHA2_CTX sha256;
    unsigned char digest[32];
    char text[65];
    /* The compiler must not see that the pointers are null. */
    SHA1_CTX *volatile no_sha1 = NULL;
    SHA2_CTX *volatile no_sha256 = NULL;
    unsigned char *volatile no_data = NULL;
    uint32_t *volatile no_state = NULL;
    /* Nor that they are misaligned. */
    static uint64_t memory[64];
    void *volatile odd = (char *)memory + 1;
    SHA1Init(&sha1);
    SHA256Init(&sha256);
    switch (argc == 2 ? atoi(argv[1]) : -1) {
    case 0: SHA1Update(no_sha1, (unsigned char *)"abc", 3); break;
    case 1: SHA1Update(&sha1, no_data, 3); break;
    case 2: SHA1Update(&sha1, digest, (size_t)PTRDIFF_MAX + 1); break;
    case 3: SHA1Pad(no_sha1); break;
    case 4: SHA1Final(digest, no_sha1); break;
    case 5: SHA1End(no_sha1, text); break;
    case 6: SHA1Data(no_data, 1, text); break;
    case 7: SHA1Transform(no_state, digest); break;
    case 8: SHA1Transform(sha1.state, no_data); break;
    case 9: SHA256Update(no_sha256, (unsigned char *)"abc", 3); break;
    case 10: SHA256Update(&sha256, no_data, SIZE_MAX); break;
    case 11: SHA256Final(digest, no_sha256); break;
    case 12: SHA1Init(no_sha1); break;
    case 13: SHA1Init((SHA1_CTX *)odd); break;
    case 14: SHA256Init((SHA2_CTX *)odd); break;
    case 15: SHA256Update((SHA2_CTX *)odd, (unsigned char *)"abc", 3); break;
    case 16: SHA1Transform((uint32_t *)odd, digest); break;
    /* Allowed: SHA256Init of libmd 1.0.4 has a check, and no bytes are read of an empty message. */
    case 100: SHA256Init(no_sha256); break;
    case 101: SHA1Update(&sha1, no_data, 0); break;
    case 102: SHA256Update(&sha256, no_data, 0); break;
    case 103: SHA1Data(no_data, 0, text); break;
    default: return 2;
    }
    return 0;
}
