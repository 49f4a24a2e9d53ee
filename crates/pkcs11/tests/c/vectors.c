/*
 * Computes digests and MACs in all ways that the module has. Reads lines from the standard input: the number of the
 * mechanism, the key ("-" for a digest), the message and the expected output, in hexadecimal digits. "." stands for no
 * bytes. Prints the number of lines.
 */
#include "module.h"

enum { MAX_BYTES = 1 << 16, MAX_TAG = 64 };

static CK_ULONG bytes_of(const char *digits, unsigned char *bytes)
{
    CK_ULONG len = 0;
    if (strcmp(digits, ".") == 0)
        return 0;
    for (; digits[2 * len]; len++) {
        unsigned byte;
        CHECK(len < MAX_BYTES && sscanf(digits + 2 * len, "%2x", &byte) == 1);
        bytes[len] = (unsigned char)byte;
    }
    return len;
}

static void digests(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, unsigned char *message, CK_ULONG len,
                    const unsigned char *expected, CK_ULONG tag_len)
{
    unsigned char tag[MAX_TAG];
    CK_ULONG found = sizeof tag;
    OK(p11->C_DigestInit(session, mechanism));
    OK(p11->C_Digest(session, message, len, tag, &found));
    CHECK(found == tag_len && memcmp(tag, expected, tag_len) == 0);
    OK(p11->C_DigestInit(session, mechanism));
    OK(p11->C_DigestUpdate(session, message, len / 3));
    OK(p11->C_DigestUpdate(session, message + len / 3, len - len / 3));
    memset(tag, 0, sizeof tag);
    OK(p11->C_DigestFinal(session, tag, &found));
    CHECK(found == tag_len && memcmp(tag, expected, tag_len) == 0);
}

static void macs(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key, unsigned char *message,
                 CK_ULONG len, unsigned char *expected, CK_ULONG tag_len)
{
    unsigned char tag[MAX_TAG];
    CK_ULONG found = sizeof tag;
    OK(p11->C_SignInit(session, mechanism, key));
    OK(p11->C_Sign(session, message, len, tag, &found));
    CHECK(found == tag_len && memcmp(tag, expected, tag_len) == 0);
    OK(p11->C_SignInit(session, mechanism, key));
    OK(p11->C_SignUpdate(session, message, len / 3));
    OK(p11->C_SignUpdate(session, message + len / 3, len - len / 3));
    memset(tag, 0, sizeof tag);
    OK(p11->C_SignFinal(session, tag, &found));
    CHECK(found == tag_len && memcmp(tag, expected, tag_len) == 0);
    OK(p11->C_VerifyInit(session, mechanism, key));
    OK(p11->C_Verify(session, message, len, expected, tag_len));
    OK(p11->C_VerifyInit(session, mechanism, key));
    OK(p11->C_VerifyUpdate(session, message, len / 3));
    OK(p11->C_VerifyUpdate(session, message + len / 3, len - len / 3));
    OK(p11->C_VerifyFinal(session, expected, tag_len));
    expected[tag_len - 1] ^= 1;
    OK(p11->C_VerifyInit(session, mechanism, key));
    EXPECT(CKR_SIGNATURE_INVALID, p11->C_Verify(session, message, len, expected, tag_len));
    expected[tag_len - 1] ^= 1;
    OK(p11->C_VerifyInit(session, mechanism, key));
    EXPECT(CKR_SIGNATURE_LEN_RANGE, p11->C_Verify(session, message, len, expected, tag_len - 1));
}

int main(int argc, char **argv)
{
    static char key_digits[2 * MAX_BYTES + 1], message_digits[2 * MAX_BYTES + 1], tag_digits[2 * MAX_BYTES + 1];
    static unsigned char key[MAX_BYTES], message[MAX_BYTES], tag[MAX_BYTES];
    CK_MECHANISM mechanism = {0, NULL, 0};
    int n_lines = 0;
    CHECK(argc == 2);
    load(argv[1]);
    OK(p11->C_Initialize(NULL));
    CK_SESSION_HANDLE session = open_session(0);
    while (scanf("%lu %131072s %131072s %131072s", &mechanism.mechanism, key_digits, message_digits, tag_digits) == 4) {
        CK_ULONG len = bytes_of(message_digits, message), tag_len = bytes_of(tag_digits, tag);
        CHECK(tag_len > 0 && tag_len <= MAX_TAG);
        mechanism.pParameter = NULL;
        mechanism.ulParameterLen = 0;
        if (strcmp(key_digits, "-") == 0) {
            digests(session, &mechanism, message, len, tag, tag_len);
        } else {
            CK_OBJECT_HANDLE handle;
            OK(make_key(session, key, bytes_of(key_digits, key), 0xffff, 0, &handle));
            if (mechanism.mechanism == CKM_SHA_1_HMAC_GENERAL || mechanism.mechanism == CKM_SHA224_HMAC_GENERAL ||
                mechanism.mechanism == CKM_SHA256_HMAC_GENERAL || mechanism.mechanism == CKM_SHA384_HMAC_GENERAL ||
                mechanism.mechanism == CKM_SHA512_HMAC_GENERAL) {
                mechanism.pParameter = &tag_len;
                mechanism.ulParameterLen = sizeof tag_len;
            }
            macs(session, &mechanism, handle, message, len, tag, tag_len);
            OK(p11->C_DestroyObject(session, handle));
        }
        n_lines++;
    }
    OK(p11->C_Finalize(NULL));
    printf("%d\n", n_lines);
    return fflush(stdout) == 0 ? 0 : 1;
}
