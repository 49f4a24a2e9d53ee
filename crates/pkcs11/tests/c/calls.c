/* The rules of the standard (v2.40) for initialisation, interfaces, slots, sessions and operations. */
#include "module.h"

/* Types of v3.0, which the header lacks. */
struct interface {
    const char *name;
    const CK_FUNCTION_LIST *functions;
    CK_FLAGS flags;
};
enum { MORE_IN_3_0 = 24 };

static const CK_ULONG NO_HANDLE = 12345;
static CK_MECHANISM sha1 = {CKM_SHA_1, NULL, 0};
static CK_MECHANISM sha256 = {CKM_SHA256, NULL, 0};
static CK_MECHANISM hmac_sha256 = {CKM_SHA256_HMAC, NULL, 0};
static unsigned char *abc = (unsigned char *)"abc";

static CK_RV mutex(void *mutex)
{
    (void)mutex;
    return CKR_OK;
}

static CK_RV create_mutex(void **mutex)
{
    *mutex = NULL;
    return CKR_OK;
}

static void initialisation(void)
{
    CK_C_INITIALIZE_ARGS arguments;
    CK_INFO info;
    CK_SESSION_HANDLE session;
    memset(&arguments, 0, sizeof arguments);
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Finalize(NULL));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetInfo(&info));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestInit(1, &sha1));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_EncryptInit(1, &sha1, 1));
    arguments.pReserved = &info;
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_Initialize(&arguments));
    arguments.pReserved = NULL;
    arguments.LockMutex = mutex;
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_Initialize(&arguments));
    arguments.UnlockMutex = arguments.DestroyMutex = mutex;
    arguments.CreateMutex = create_mutex;
    EXPECT(CKR_CANT_LOCK, p11->C_Initialize(&arguments));
    arguments.flags = CKF_OS_LOCKING_OK | CKF_LIBRARY_CANT_CREATE_OS_THREADS;
    OK(p11->C_Initialize(&arguments));
    EXPECT(CKR_CRYPTOKI_ALREADY_INITIALIZED, p11->C_Initialize(NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_Finalize(&info));
    OK(p11->C_Finalize(NULL));
    OK(p11->C_Initialize(NULL));
}

static void interfaces(void)
{
    CK_RV (*get)(const char *, CK_VERSION *, struct interface **, CK_FLAGS);
    CK_RV (*get_list)(struct interface *, CK_ULONG *);
    struct interface *found, list[2];
    CK_VERSION version = {2, 40};
    CK_ULONG count = 0;
    CK_INFO info;
    *(void **)&get = symbol("C_GetInterface");
    *(void **)&get_list = symbol("C_GetInterfaceList");
    EXPECT(CKR_ARGUMENTS_BAD, get(NULL, NULL, NULL, 0));
    EXPECT(CKR_ARGUMENTS_BAD, get_list(list, NULL));
    OK(get_list(NULL, &count));
    CHECK(count == 2);
    count = 1;
    EXPECT(CKR_BUFFER_TOO_SMALL, get_list(list, &count));
    CHECK(count == 2);
    OK(get_list(list, &count));
    CHECK(strcmp(list[0].name, "PKCS 11") == 0 && strcmp(list[1].name, "PKCS 11") == 0);
    CHECK(list[0].functions->version.major == 3 && list[1].functions == p11);
    OK(get("PKCS 11", &version, &found, 0));
    CHECK(found->functions == p11);
    OK(get(NULL, NULL, &found, 0));
    CHECK(found->functions == list[0].functions);
    OK(found->functions->C_GetInfo(&info));
    CHECK(info.cryptokiVersion.major == 3 && info.cryptokiVersion.minor == 0);
    OK(p11->C_GetInfo(&info));
    CHECK(info.cryptokiVersion.major == 2 && info.cryptokiVersion.minor == 40);
    /* All functions exist, also those that v3.0 has more. */
    void *const *functions = (void *const *)(const void *)&list[0].functions->C_Initialize;
    size_t n_functions = (sizeof(CK_FUNCTION_LIST) - offsetof(CK_FUNCTION_LIST, C_Initialize)) / sizeof(void *);
    for (size_t i = 0; i < n_functions + MORE_IN_3_0; i++)
        CHECK(functions[i] != NULL);
    version.minor = 39;
    EXPECT(CKR_FUNCTION_FAILED, get(NULL, &version, &found, 0));
    EXPECT(CKR_FUNCTION_FAILED, get("Vendor", NULL, &found, 0));
    EXPECT(CKR_FUNCTION_FAILED, get(NULL, NULL, &found, 1 /* CKF_INTERFACE_FORK_SAFE */));
    /* C_SessionCancel of v3.0. */
    CK_RV (*cancel)(CK_SESSION_HANDLE, CK_FLAGS);
    memcpy(&cancel, functions + n_functions + 3, sizeof cancel);
    CK_SESSION_HANDLE session = open_session(0);
    OK(p11->C_DigestInit(session, &sha1));
    OK(cancel(session, CKF_SIGN));
    EXPECT(CKR_OPERATION_ACTIVE, p11->C_DigestInit(session, &sha1));
    OK(cancel(session, CKF_DIGEST));
    OK(cancel(session, CKF_DIGEST));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_DigestUpdate(session, abc, 3));
    EXPECT(CKR_SESSION_HANDLE_INVALID, cancel(NO_HANDLE, CKF_DIGEST));
    OK(p11->C_CloseSession(session));
}

static void slots(void)
{
    CK_SLOT_ID slot = 99;
    CK_SLOT_INFO slot_info;
    CK_TOKEN_INFO token_info;
    CK_MECHANISM_INFO mechanism_info;
    CK_MECHANISM_TYPE mechanisms[16];
    CK_ULONG count = 0;
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetSlotList(CK_TRUE, NULL, NULL));
    EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_GetSlotList(CK_TRUE, &slot, &count));
    CHECK(count == 1 && slot == 99);
    OK(p11->C_GetSlotList(CK_FALSE, NULL, &count));
    OK(p11->C_GetSlotList(CK_TRUE, &slot, &count));
    CHECK(count == 1 && slot == 0);
    EXPECT(CKR_SLOT_ID_INVALID, p11->C_GetSlotInfo(1, &slot_info));
    EXPECT(CKR_SLOT_ID_INVALID, p11->C_GetTokenInfo(1, &token_info));
    EXPECT(CKR_SLOT_ID_INVALID, p11->C_GetMechanismList(1, NULL, &count));
    EXPECT(CKR_SLOT_ID_INVALID, p11->C_GetMechanismInfo(1, CKM_SHA_1, &mechanism_info));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetSlotInfo(0, NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetTokenInfo(0, NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetMechanismInfo(0, CKM_SHA_1, NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetMechanismInfo(0, CKM_MD5, NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetInfo(NULL));
    OK(p11->C_GetSlotInfo(0, &slot_info));
    CHECK(slot_info.flags == CKF_TOKEN_PRESENT && slot_info.slotDescription[63] == ' ');
    OK(p11->C_GetTokenInfo(0, &token_info));
    CHECK(token_info.flags == (CKF_RNG | CKF_WRITE_PROTECTED | CKF_TOKEN_INITIALIZED));
    CHECK(token_info.label[31] == ' ' && token_info.ulSessionCount == 0);
    count = 15;
    EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_GetMechanismList(0, mechanisms, &count));
    CHECK(count == 16);
    OK(p11->C_GetMechanismList(0, mechanisms, &count));
    for (CK_ULONG i = 0; i < count; i++)
        OK(p11->C_GetMechanismInfo(0, mechanisms[i], &mechanism_info));
    EXPECT(CKR_MECHANISM_INVALID, p11->C_GetMechanismInfo(0, CKM_MD5, &mechanism_info));
    EXPECT(CKR_NO_EVENT, p11->C_WaitForSlotEvent(CKF_DONT_BLOCK, &slot, NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_WaitForSlotEvent(CKF_DONT_BLOCK, &slot, &slot));
    EXPECT(CKR_FUNCTION_NOT_SUPPORTED, p11->C_WaitForSlotEvent(0, &slot, NULL));
    unsigned char label[32];
    memset(label, ' ', sizeof label);
    EXPECT(CKR_TOKEN_WRITE_PROTECTED, p11->C_InitToken(0, abc, 3, label));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_InitToken(0, abc, 3, NULL));
}

static void sessions(void)
{
    CK_SESSION_HANDLE session, other;
    CK_SESSION_INFO info;
    CK_TOKEN_INFO token_info;
    unsigned char bytes[64] = {0}, zeros[64] = {0};
    CK_ULONG len = sizeof bytes;
    EXPECT(CKR_SESSION_PARALLEL_NOT_SUPPORTED, p11->C_OpenSession(0, 0, NULL, NULL, &session));
    EXPECT(CKR_SLOT_ID_INVALID, p11->C_OpenSession(1, CKF_SERIAL_SESSION, NULL, NULL, &session));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, NULL));
    session = open_session(0);
    other = open_session(CKF_RW_SESSION);
    CHECK(session != other && session != CK_INVALID_HANDLE && other != CK_INVALID_HANDLE);
    OK(p11->C_GetSessionInfo(session, &info));
    CHECK(info.slotID == 0 && info.state == CKS_RO_PUBLIC_SESSION && info.flags == CKF_SERIAL_SESSION);
    OK(p11->C_GetSessionInfo(other, &info));
    CHECK(info.state == CKS_RW_PUBLIC_SESSION && info.flags == (CKF_SERIAL_SESSION | CKF_RW_SESSION));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetSessionInfo(session, NULL));
    OK(p11->C_GetTokenInfo(0, &token_info));
    CHECK(token_info.ulSessionCount == 2 && token_info.ulRwSessionCount == 1);
    EXPECT(CKR_USER_PIN_NOT_INITIALIZED, p11->C_Login(session, CKU_USER, abc, 3));
    EXPECT(CKR_USER_TYPE_INVALID, p11->C_Login(session, CKU_SO, abc, 3));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_Login(session, CKU_CONTEXT_SPECIFIC, abc, 3));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_Login(session, CKU_USER, NULL, 3));
    EXPECT(CKR_USER_NOT_LOGGED_IN, p11->C_Logout(session));
    EXPECT(CKR_USER_NOT_LOGGED_IN, p11->C_InitPIN(session, abc, 3));
    EXPECT(CKR_SESSION_READ_ONLY, p11->C_SetPIN(session, abc, 3, abc, 3));
    EXPECT(CKR_TOKEN_WRITE_PROTECTED, p11->C_SetPIN(other, abc, 3, abc, 3));
    unsigned char label[32];
    EXPECT(CKR_SESSION_EXISTS, p11->C_InitToken(0, abc, 3, label));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_GetOperationState(session, NULL, &len));
    OK(p11->C_DigestInit(session, &sha1));
    EXPECT(CKR_STATE_UNSAVEABLE, p11->C_GetOperationState(session, NULL, &len));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetOperationState(session, NULL, NULL));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_SetOperationState(session, NULL, 0, 0, 0));
    EXPECT(CKR_SAVED_STATE_INVALID, p11->C_SetOperationState(session, bytes, sizeof bytes, 0, 0));
    EXPECT(CKR_FUNCTION_NOT_PARALLEL, p11->C_GetFunctionStatus(session));
    EXPECT(CKR_FUNCTION_NOT_PARALLEL, p11->C_CancelFunction(session));
    EXPECT(CKR_FUNCTION_NOT_SUPPORTED, p11->C_EncryptInit(session, &sha1, 1));
    EXPECT(CKR_RANDOM_SEED_NOT_SUPPORTED, p11->C_SeedRandom(session, abc, 3));
    OK(p11->C_GenerateRandom(session, bytes, sizeof bytes));
    CHECK(memcmp(bytes, zeros, sizeof bytes) != 0);
    OK(p11->C_GenerateRandom(session, NULL, 0));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GenerateRandom(session, NULL, 1));
    OK(p11->C_CloseSession(session));
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_CloseSession(session));
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_DigestUpdate(session, abc, 3));
    EXPECT(CKR_SLOT_ID_INVALID, p11->C_CloseAllSessions(1));
    OK(p11->C_CloseAllSessions(0));
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_GetSessionInfo(other, &info));
}

static const unsigned char DIGEST[20] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                                         0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};

static void digests(void)
{
    CK_SESSION_HANDLE session = open_session(0);
    unsigned char digest[32];
    CK_ULONG len = sizeof digest;
    CK_MECHANISM md5 = {CKM_MD5, NULL, 0}, parameter = {CKM_SHA_1, abc, 3}, missing = {CKM_SHA_1, NULL, 3};
    EXPECT(CKR_MECHANISM_INVALID, p11->C_DigestInit(session, &md5));
    EXPECT(CKR_MECHANISM_INVALID, p11->C_DigestInit(session, &hmac_sha256));
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_DigestInit(session, &parameter));
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_DigestInit(session, &missing));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_DigestInit(session, NULL));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_Digest(session, abc, 3, digest, &len));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_DigestUpdate(session, abc, 3));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_DigestFinal(session, digest, &len));

    /* Questions for the length, and buffers that are too small, keep the message as it was. */
    OK(p11->C_DigestInit(session, &sha1));
    EXPECT(CKR_OPERATION_ACTIVE, p11->C_DigestInit(session, &sha256));
    OK(p11->C_Digest(session, abc, 3, NULL, &len));
    CHECK(len == 20);
    len = 19;
    memset(digest, 0xee, sizeof digest);
    EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_Digest(session, abc, 3, digest, &len));
    CHECK(len == 20 && digest[0] == 0xee);
    OK(p11->C_Digest(session, abc, 3, digest, &len));
    CHECK(len == 20 && memcmp(digest, DIGEST, 20) == 0 && digest[20] == 0xee);
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_Digest(session, abc, 3, digest, &len));

    /* The same with parts, among which are empty ones. */
    OK(p11->C_DigestInit(session, &sha1));
    OK(p11->C_DigestUpdate(session, abc, 2));
    OK(p11->C_DigestUpdate(session, NULL, 0));
    OK(p11->C_DigestFinal(session, NULL, &len));
    len = 0;
    EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_DigestFinal(session, digest, &len));
    OK(p11->C_DigestUpdate(session, abc + 2, 1));
    OK(p11->C_DigestFinal(session, digest, &len));
    CHECK(memcmp(digest, DIGEST, 20) == 0);

    /* The digest may overwrite the message. */
    memcpy(digest, "abc", 3);
    len = sizeof digest;
    OK(p11->C_DigestInit(session, &sha1));
    OK(p11->C_Digest(session, digest, 3, digest, &len));
    CHECK(memcmp(digest, DIGEST, 20) == 0);

    /* Errors end the operation. */
    for (int error = 0; error < 7; error++) {
        OK(p11->C_DigestInit(session, &sha1));
        switch (error) {
        case 0: EXPECT(CKR_ARGUMENTS_BAD, p11->C_Digest(session, NULL, 3, digest, &len)); break;
        case 1: EXPECT(CKR_ARGUMENTS_BAD, p11->C_Digest(session, abc, 3, digest, NULL)); break;
        case 2: EXPECT(CKR_ARGUMENTS_BAD, p11->C_DigestUpdate(session, NULL, 3)); break;
        case 3: EXPECT(CKR_ARGUMENTS_BAD, p11->C_DigestUpdate(session, abc, ~0UL)); break;
        case 4: EXPECT(CKR_ARGUMENTS_BAD, p11->C_DigestFinal(session, digest, NULL)); break;
        case 5: EXPECT(CKR_KEY_HANDLE_INVALID, p11->C_DigestKey(session, NO_HANDLE)); break;
        case 6:
            OK(p11->C_DigestUpdate(session, abc, 1));
            EXPECT(CKR_OPERATION_ACTIVE, p11->C_Digest(session, abc, 3, digest, &len));
        }
        EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_DigestFinal(session, digest, &len));
    }

    /* A call for another operation does not. No mechanism cancels it. */
    OK(p11->C_DigestInit(session, &sha1));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_SignUpdate(session, abc, 3));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_VerifyFinal(session, abc, 3));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_FindObjectsFinal(session));
    EXPECT(CKR_OPERATION_ACTIVE, p11->C_FindObjectsInit(session, NULL, 0));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_SignInit(session, NULL, NO_HANDLE));
    OK(p11->C_DigestInit(session, NULL));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_DigestUpdate(session, abc, 3));

    /* A key as a part of the message. */
    CK_OBJECT_HANDLE key = key_of(session, "b");
    len = sizeof digest;
    OK(p11->C_DigestInit(session, &sha1));
    OK(p11->C_DigestUpdate(session, abc, 1));
    OK(p11->C_DigestKey(session, key));
    OK(p11->C_DigestUpdate(session, abc + 2, 1));
    OK(p11->C_DigestFinal(session, digest, &len));
    CHECK(memcmp(digest, DIGEST, 20) == 0);

    /* Two sessions do not disturb each other. */
    CK_SESSION_HANDLE other = open_session(0);
    OK(p11->C_DigestInit(session, &sha1));
    OK(p11->C_DigestInit(other, &sha256));
    OK(p11->C_DigestUpdate(other, (unsigned char *)"xyz", 3));
    OK(p11->C_Digest(session, abc, 3, digest, &len));
    CHECK(memcmp(digest, DIGEST, 20) == 0);
    OK(p11->C_CloseAllSessions(0));
}

static void macs(void)
{
    CK_SESSION_HANDLE session = open_session(0);
    CK_OBJECT_HANDLE key = key_of(session, "Jefe");
    CK_ULONG param = 0, len;
    CK_MECHANISM general = {CKM_SHA_1_HMAC_GENERAL, &param, sizeof param};
    CK_MECHANISM short_param = {CKM_SHA_1_HMAC_GENERAL, &param, 4}, no_param = {CKM_SHA256_HMAC_GENERAL, NULL, 0};
    CK_MECHANISM with_param = {CKM_SHA256_HMAC, &param, sizeof param};
    unsigned char mac[32], whole[32];
    EXPECT(CKR_MECHANISM_INVALID, p11->C_SignInit(session, &sha1, key));
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(session, &general, key));
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(session, &short_param, key));
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(session, &no_param, key));
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(session, &with_param, key));
    param = 21;
    EXPECT(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(session, &general, key));
    EXPECT(CKR_KEY_HANDLE_INVALID, p11->C_SignInit(session, &hmac_sha256, NO_HANDLE));
    EXPECT(CKR_KEY_HANDLE_INVALID, p11->C_VerifyInit(session, &hmac_sha256, session));
    EXPECT(CKR_SESSION_HANDLE_INVALID, p11->C_SignInit(NO_HANDLE, &hmac_sha256, key));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_Sign(session, abc, 3, mac, &len));
    EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_Verify(session, abc, 3, mac, 32));

    /* A general MAC is the beginning of the whole one, of any length. */
    param = len = 20;
    OK(p11->C_SignInit(session, &general, key));
    OK(p11->C_Sign(session, abc, 3, whole, &len));
    for (param = 1; param <= 20; param++) {
        OK(p11->C_SignInit(session, &general, key));
        OK(p11->C_Sign(session, abc, 3, NULL, &len));
        CHECK(len == param);
        len = param - 1;
        EXPECT(CKR_BUFFER_TOO_SMALL, p11->C_Sign(session, abc, 3, mac, &len));
        memset(mac, 0xee, sizeof mac);
        OK(p11->C_Sign(session, abc, 3, mac, &len));
        CHECK(len == param && memcmp(mac, whole, len) == 0 && mac[len] == 0xee);
        OK(p11->C_VerifyInit(session, &general, key));
        OK(p11->C_Verify(session, abc, 3, mac, len));
    }

    /* A verification ends with each answer. */
    for (int error = 0; error < 7; error++) {
        OK(p11->C_VerifyInit(session, &hmac_sha256, key));
        switch (error) {
        case 0: EXPECT(CKR_SIGNATURE_INVALID, p11->C_Verify(session, abc, 3, mac, 32)); break;
        case 1: EXPECT(CKR_SIGNATURE_LEN_RANGE, p11->C_Verify(session, abc, 3, mac, 31)); break;
        case 2: EXPECT(CKR_ARGUMENTS_BAD, p11->C_Verify(session, abc, 3, NULL, 32)); break;
        case 3: EXPECT(CKR_ARGUMENTS_BAD, p11->C_Verify(session, NULL, 3, mac, 32)); break;
        case 4: EXPECT(CKR_SIGNATURE_LEN_RANGE, p11->C_VerifyFinal(session, mac, 33)); break;
        case 5: EXPECT(CKR_ARGUMENTS_BAD, p11->C_VerifyFinal(session, NULL, 0)); break;
        case 6:
            OK(p11->C_VerifyUpdate(session, abc, 3));
            EXPECT(CKR_OPERATION_ACTIVE, p11->C_Verify(session, abc, 3, mac, 32));
        }
        EXPECT(CKR_OPERATION_NOT_INITIALIZED, p11->C_VerifyUpdate(session, abc, 3));
    }

    /* An operation keeps its key when the object is destroyed. */
    len = sizeof mac;
    OK(p11->C_SignInit(session, &hmac_sha256, key));
    OK(p11->C_Sign(session, abc, 3, whole, &len));
    OK(p11->C_SignInit(session, &hmac_sha256, key));
    OK(p11->C_DestroyObject(session, key));
    OK(p11->C_SignUpdate(session, abc, 3));
    OK(p11->C_SignFinal(session, mac, &len));
    CHECK(len == 32 && memcmp(mac, whole, 32) == 0);
    OK(p11->C_CloseSession(session));
}

/* Misaligned pointers are errors. */
static void misaligned(void)
{
    static union {
        unsigned char bytes[512];
        CK_ULONG aligned;
    } memory;
    void *odd = memory.bytes + 1;
    CK_SESSION_HANDLE session = open_session(0);
    CK_OBJECT_HANDLE key = key_of(session, "key");
    CK_ULONG len = 4;
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_Initialize(odd));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetInfo(odd));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetFunctionList(odd));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetSlotList(CK_TRUE, odd, &len));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetSlotList(CK_TRUE, NULL, odd));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, odd));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_DigestInit(session, odd));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_CreateObject(session, odd, 1, &key));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetAttributeValue(session, key, odd, 1));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_GetObjectSize(session, key, odd));
    OK(p11->C_DigestInit(session, &sha1));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_Digest(session, abc, 3, memory.bytes, odd));
    OK(p11->C_FindObjectsInit(session, NULL, 0));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_FindObjects(session, odd, 1, &len));
    EXPECT(CKR_ARGUMENTS_BAD, p11->C_FindObjects(session, &key, 1, odd));
    OK(p11->C_FindObjects(session, &key, 1, &len));
    CHECK(len == 1);
    CK_TOKEN_INFO info;
    OK(p11->C_GetTokenInfo(0, &info));
    CHECK(info.ulSessionCount == 1);
    OK(p11->C_CloseSession(session));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    load(argv[1]);
    initialisation();
    interfaces();
    slots();
    sessions();
    digests();
    macs();
    misaligned();
    OK(p11->C_Finalize(NULL));
    EXPECT(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestInit(1, &sha1));
    CHECK(dlclose(library) == 0);
    return 0;
}
