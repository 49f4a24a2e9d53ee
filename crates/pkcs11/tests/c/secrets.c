/*
 * Searches the writable memory of the process for a key: it is there while the key exists, and nowhere afterwards. The
 * stack is left out, because the engine does not wipe what was on it.
 */
#include "module.h"

#include <inttypes.h>

enum { KEY_LEN = 40, BLOCK_LEN = 128, MASK = 0xa5 };

/* The key itself is in no static memory. */
static const unsigned char masked[KEY_LEN] = "3b27e0d5f1689a4c7e2d8b1f6a9c05e4d3b7f281";

static int is_key(const unsigned char *bytes)
{
    for (int i = 0; i < KEY_LEN; i++)
        if (bytes[i] != (masked[i] ^ MASK))
            return 0;
    return 1;
}

/* Returns the number of places where the key is. */
static int n_places(void)
{
    char line[512];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t start, end;
        char permissions[5];
        CHECK(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &start, &end, permissions) == 3);
        if (strncmp(permissions, "rw", 2) != 0 || strstr(line, "[stack"))
            continue;
        for (const unsigned char *at = (const unsigned char *)start; at + KEY_LEN <= (const unsigned char *)end; at++)
            n += is_key(at);
    }
    fclose(maps);
    return n;
}

static CK_OBJECT_HANDLE create(CK_SESSION_HANDLE session)
{
    unsigned char key[KEY_LEN];
    CK_OBJECT_HANDLE handle;
    for (int i = 0; i < KEY_LEN; i++)
        key[i] = masked[i] ^ MASK;
    OK(make_key(session, key, KEY_LEN, 0xffff, 0, &handle));
    explicit_bzero(key, sizeof key);
    return handle;
}

static void digest_with_key(CK_SESSION_HANDLE session, CK_MECHANISM_TYPE type, CK_OBJECT_HANDLE key)
{
    CK_MECHANISM mechanism = {type, NULL, 0};
    OK(p11->C_DigestInit(session, &mechanism));
    OK(p11->C_DigestKey(session, key));
}

static void key_is_wiped(CK_MECHANISM_TYPE digest, CK_MECHANISM_TYPE mac)
{
    unsigned char tag[64], more[2 * BLOCK_LEN] = {0};
    CK_ULONG len = sizeof tag;
    CK_MECHANISM hmac = {mac, NULL, 0};
    CK_SESSION_HANDLE session = open_session(0);
    CHECK(n_places() == 0);

    CK_OBJECT_HANDLE key = create(session);
    CHECK(n_places() == 1);
    CK_ATTRIBUTE label = {CKA_LABEL, "label", 5};
    OK(p11->C_SetAttributeValue(session, key, &label, 1));
    CHECK(n_places() == 1);
    OK(p11->C_SignInit(session, &hmac, key));
    OK(p11->C_Sign(session, tag, sizeof tag, tag, &len));
    len = sizeof tag;
    digest_with_key(session, digest, key);
    CHECK(n_places() == 2);
    OK(p11->C_DigestFinal(session, tag, &len));
    CHECK(n_places() == 1);
    digest_with_key(session, digest, key);
    OK(p11->C_DigestInit(session, NULL));
    CHECK(n_places() == 1);
    OK(p11->C_DestroyObject(session, key));
    CHECK(n_places() == 0);

    /* The buffer of a message is as long as a block, at most BLOCK_LEN bytes. It may be full, empty, or partly filled at the end. */
    for (CK_ULONG n = 0; n <= 2 * BLOCK_LEN - KEY_LEN; n++) {
        key = create(session);
        digest_with_key(session, digest, key);
        OK(p11->C_DigestUpdate(session, more, n));
        OK(p11->C_CloseSession(session));
        CHECK(n_places() == 0);
        session = open_session(0);
    }
    digest_with_key(session, digest, create(session));
    OK(p11->C_CloseSession(session));
    CHECK(n_places() == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    load(argv[1]);
    OK(p11->C_Initialize(NULL));
    key_is_wiped(CKM_SHA_1, CKM_SHA_1_HMAC);
    key_is_wiped(CKM_SHA224, CKM_SHA224_HMAC);
    key_is_wiped(CKM_SHA256, CKM_SHA256_HMAC);
    key_is_wiped(CKM_SHA384, CKM_SHA384_HMAC);
    key_is_wiped(CKM_SHA512, CKM_SHA512_HMAC);
    CK_SESSION_HANDLE session = open_session(0);
    digest_with_key(session, CKM_SHA512, create(session));
    OK(p11->C_Finalize(NULL));
    CHECK(n_places() == 0);
    return 0;
}
