#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// What are macros in OpenSSL, as functions with the types of the calls behind them.

static const uint64_t COpenSSL_noTicket = SSL_OP_NO_TICKET;
static const uint64_t COpenSSL_middleboxCompatibility = SSL_OP_ENABLE_MIDDLEBOX_COMPAT;

/// Allows versions of TLS from `lowest` to `highest`. Returns 1, or 0.
static inline int COpenSSL_setVersions(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest) && SSL_CTX_set_max_proto_version(context, highest);
}

/// Sets the groups for the key exchange, by name. Returns 1, or 0.
static inline int COpenSSL_setGroups(SSL_CTX *context, const char *names) {
    return SSL_CTX_set1_groups_list(context, names) == 1;
}

/// Sets the algorithms that either side may sign with, by name. Returns 1, or 0.
static inline int COpenSSL_setSignatures(SSL_CTX *context, const char *names) {
    return SSL_CTX_set1_sigalgs_list(context, names) == 1 && SSL_CTX_set1_client_sigalgs_list(context, names) == 1;
}

/// Sets the longest Certificate message that is taken, in bytes.
static inline void COpenSSL_setLongestCertificate(SSL_CTX *context, long length) {
    SSL_CTX_set_max_cert_list(context, length);
}

/// Keeps no sessions, and no buffers of idle connections.
static inline void COpenSSL_keepNothing(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

/// Adds a certificate behind the own one; takes it over. Returns 1, or 0.
static inline int COpenSSL_addCertificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add_extra_chain_cert(context, certificate);
}

/// Makes reading from an empty memory BIO say 'not yet', or, once the bytes have ended, 'end'.
static inline void COpenSSL_setEnded(BIO *memory, int ended) { BIO_set_mem_eof_return(memory, ended ? 0 : -1); }

/// Certificates that the peer sent.
static inline int COpenSSL_certificateCount(X509_STORE_CTX *store) {
    return sk_X509_num(X509_STORE_CTX_get0_untrusted(store));
}

// SHA-256 by the calls that OpenSSL 3 would replace by EVP's, which look an algorithm up and allocate each time: more
// than hashing an event takes. These know the processor's instructions as well.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

/// Begins a hash.
static inline void COpenSSL_sha256Begin(SHA256_CTX *hash) { SHA256_Init(hash); }

/// Adds bytes to a hash.
static inline void COpenSSL_sha256Add(SHA256_CTX *hash, const void *bytes, size_t length) {
    SHA256_Update(hash, bytes, length);
}

/// Ends a hash, and writes its 32 bytes to `digest`.
static inline void COpenSSL_sha256End(SHA256_CTX *hash, unsigned char *digest) { SHA256_Final(digest, hash); }

#pragma clang diagnostic pop
