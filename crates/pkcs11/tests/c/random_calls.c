/*
 * Makes calls in a random order with arguments that are sometimes wrong. Nothing crashes, and digests
 * are right whatever happened before. The numbers are the same in each run.
 *
 *     random_calls MODULE [NUMBER OF CALLS]
 */
#include "module.h"

#include <stdint.h>

enum { N_HANDLES = 6, MAX_MESSAGE = 200 };

static uint64_t state = 88172645463325252u;
static CK_SESSION_HANDLE sessions[N_HANDLES];
static CK_OBJECT_HANDLE keys[N_HANDLES];
static unsigned char message[MAX_MESSAGE];
/* SHA-256 of each beginning of the message. */
static unsigned char digests[MAX_MESSAGE + 1][32];

static unsigned below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 32) % n;
}

/* Returns its first argument, but sometimes null. */
static void *or_null(void *pointer)
{
    return below(12) ? pointer : NULL;
}

static CK_MECHANISM *mechanism(void)
{
    static CK_MECHANISM mechanisms[8];
    static CK_ULONG mac_len;
    static const CK_MECHANISM_TYPE types[] = {CKM_SHA256,      CKM_SHA384,      CKM_SHA_1,
                                              CKM_SHA256_HMAC, CKM_SHA512_HMAC,  CKM_SHA256_HMAC_GENERAL,
                                              CKM_MD5,         CKM_GENERIC_SECRET_KEY_GEN};
    unsigned i = below(8);
    mechanisms[i].mechanism = types[i];
    mac_len = below(35);
    mechanisms[i].pParameter = i == 5 ? or_null(&mac_len) : NULL;
    mechanisms[i].ulParameterLen = i == 5 ? sizeof mac_len : below(20) == 0;
    return or_null(mechanisms + i);
}

static void sessions_and_objects(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key)
{
    CK_OBJECT_HANDLE found[3];
    CK_ULONG count, len = below(70);
    CK_BBOOL flag = below(2);
    unsigned char value[8] = {0};
    CK_ATTRIBUTE attributes[] = {{CKA_VALUE_LEN, &len, sizeof len},
                                 {below(2) ? CKA_SENSITIVE : CKA_MODIFIABLE, &flag, sizeof flag},
                                 {CKA_VALUE, or_null(value), sizeof value}};
    unsigned i = below(N_HANDLES);
    switch (below(11)) {
    case 0: p11->C_CloseSession(session); break;
    case 1:
    case 2: p11->C_OpenSession(below(9) == 0, CKF_SERIAL_SESSION, NULL, NULL, or_null(sessions + i)); break;
    case 3: make_key(session, message, below(100), below(2) ? CKA_SIGN : 0xffff, flag, keys + i); break;
    case 4: p11->C_GenerateKey(session, mechanism(), attributes, below(3), or_null(keys + i)); break;
    case 5: p11->C_CopyObject(session, key, attributes + 1, below(2), or_null(keys + i)); break;
    case 6: p11->C_DestroyObject(session, key); break;
    case 7: p11->C_SetAttributeValue(session, key, attributes + 1, below(3)); break;
    case 8: p11->C_GetAttributeValue(session, key, attributes, below(4)); break;
    case 9: p11->C_FindObjectsInit(session, attributes + 1, below(3)); break;
    case 10:
        p11->C_FindObjects(session, or_null(found), below(4), or_null(&count));
        if (below(2))
            p11->C_FindObjectsFinal(session);
    }
    if (below(2000) == 0)
        p11->C_CloseAllSessions(0);
}

static void messages(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key)
{
    unsigned char tag[64], *part = or_null(message);
    CK_ULONG len = below(MAX_MESSAGE), tag_len = below(64);
    switch (below(12)) {
    case 0: p11->C_DigestInit(session, mechanism()); break;
    case 1: p11->C_DigestUpdate(session, part, len); break;
    case 2: p11->C_DigestKey(session, key); break;
    case 3: p11->C_Digest(session, part, len, or_null(tag), or_null(&tag_len)); break;
    case 4: p11->C_DigestFinal(session, or_null(tag), or_null(&tag_len)); break;
    case 5: p11->C_SignInit(session, mechanism(), key); break;
    case 6: p11->C_SignUpdate(session, part, len); break;
    case 7: p11->C_Sign(session, part, len, or_null(tag), or_null(&tag_len)); break;
    case 8: p11->C_SignFinal(session, or_null(tag), or_null(&tag_len)); break;
    case 9: p11->C_VerifyInit(session, mechanism(), key); break;
    case 10: p11->C_Verify(session, part, len, message, tag_len); break;
    case 11: p11->C_VerifyFinal(session, message, tag_len);
    }
}

/* Whatever has happened in a session, its next message gets the right digest. */
static void check_digest(CK_SESSION_HANDLE session)
{
    CK_MECHANISM sha256 = {CKM_SHA256, NULL, 0};
    unsigned char digest[32];
    CK_ULONG len = sizeof digest, message_len = below(MAX_MESSAGE + 1), split = below((unsigned)message_len + 1);
    CK_RV result = p11->C_DigestInit(session, &sha256);
    if (result != CKR_OK) {
        CHECK(result == CKR_OPERATION_ACTIVE || result == CKR_SESSION_HANDLE_INVALID);
        return;
    }
    OK(p11->C_DigestUpdate(session, message, split));
    OK(p11->C_DigestUpdate(session, message + split, message_len - split));
    OK(p11->C_DigestFinal(session, digest, &len));
    CHECK(memcmp(digest, digests[message_len], 32) == 0);
}

int main(int argc, char **argv)
{
    CK_MECHANISM sha256 = {CKM_SHA256, NULL, 0};
    int n_calls = argc == 3 ? atoi(argv[2]) : 300000;
    CHECK(argc == 2 || argc == 3);
    load(argv[1]);
    OK(p11->C_Initialize(NULL));
    CK_SESSION_HANDLE session = open_session(0);
    for (int len = 0; len <= MAX_MESSAGE; len++) {
        CK_ULONG digest_len = 32;
        if (len < MAX_MESSAGE)
            message[len] = (unsigned char)(len * 7);
        OK(p11->C_DigestInit(session, &sha256));
        OK(p11->C_Digest(session, message, (CK_ULONG)len, digests[len], &digest_len));
    }
    for (int call = 0; call < n_calls; call++) {
        session = sessions[below(N_HANDLES)];
        CK_OBJECT_HANDLE key = keys[below(N_HANDLES)];
        switch (below(3)) {
        case 0: sessions_and_objects(session, key); break;
        case 1: messages(session, key); break;
        case 2: check_digest(session);
        }
    }
    OK(p11->C_Finalize(NULL));
    return 0;
}
