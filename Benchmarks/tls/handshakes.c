// handshakes COUNT: CPU time of full TLS 1.3 handshakes between two ends on one thread over memory, in microseconds each.
//
// As little as OpenSSL does for what links need: X25519, Ed25519, one self-signed certificate each way whose signature is
// verified, ALPN, no tickets; then 32 bytes each way. With `chain` in place of that a common setup: certificates of a CA,
// verified by OpenSSL, and its two tickets.
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int is_right, const char *what) {
  if (is_right) return;
  fprintf(stderr, "handshakes: %s failed\n", what);
  exit(1);
}

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static X509 *certificate(EVP_PKEY *key, const char *name, X509 *issuer, EVP_PKEY *issuer_key) {
  X509 *made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), 0);
  X509_gmtime_adj(X509_getm_notAfter(made), 86400);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(issuer ? issuer : made));
  X509_set_pubkey(made, key);
  if (!issuer) {
    X509_EXTENSION *authority = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(made, authority, -1);
    X509_EXTENSION_free(authority);
  }
  check(X509_sign(made, issuer_key, NULL) > 0, "X509_sign");
  return made;
}

static int verify_own_signature(X509_STORE_CTX *store, void *unused) {
  (void)unused;
  X509 *shown = X509_STORE_CTX_get0_cert(store);
  return X509_verify(shown, X509_get0_pubkey(shown)) == 1;
}

static const unsigned char protocol[] = "\013groupchat/1";

static int choose(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *in, unsigned int count,
                  void *unused) {
  (void)ssl, (void)unused;
  return SSL_select_next_proto((unsigned char **)out, length, protocol, 12, in, count) == OPENSSL_NPN_NEGOTIATED
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *context(const char *name, int has_chain, X509 *authority, EVP_PKEY *authority_key) {
  SSL_CTX *made = SSL_CTX_new(TLS_method());
  EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
  X509 *own = has_chain ? certificate(key, name, authority, authority_key) : certificate(key, name, NULL, key);
  SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION);
  check(SSL_CTX_set1_groups_list(made, "X25519"), "groups");
  check(SSL_CTX_use_certificate(made, own) && SSL_CTX_use_PrivateKey(made, key), "certificate");
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  SSL_CTX_set_alpn_protos(made, protocol, 12);
  SSL_CTX_set_alpn_select_cb(made, choose, NULL);
  if (has_chain) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(made), authority);
    SSL_CTX_set_session_id_context(made, (const unsigned char *)"c", 1);
  } else {
    SSL_CTX_set_cert_verify_callback(made, verify_own_signature, NULL);
    SSL_CTX_set_num_tickets(made, 0);
  }
  X509_free(own);
  EVP_PKEY_free(key);
  return made;
}

static int advance(SSL *ssl) {
  int result = SSL_do_handshake(ssl);
  check(result == 1 || SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ, "handshake");
  return result == 1;
}

static void handshake(SSL_CTX *one, SSL_CTX *other) {
  SSL *dialler = SSL_new(one), *acceptor = SSL_new(other);
  BIO *left, *right;
  char proof[32] = {0};
  BIO_new_bio_pair(&left, 65536, &right, 65536);
  SSL_set_bio(dialler, left, left);
  SSL_set_bio(acceptor, right, right);
  SSL_set_connect_state(dialler);
  SSL_set_accept_state(acceptor);
  for (int is_done = 0, is_other_done = 0; !is_done || !is_other_done;) {
    if (!is_done) is_done = advance(dialler);
    if (!is_other_done) is_other_done = advance(acceptor);
  }
  check(SSL_write(dialler, proof, 32) == 32 && SSL_read(acceptor, proof, 32) == 32, "data");
  check(SSL_write(acceptor, proof, 32) == 32 && SSL_read(dialler, proof, 32) == 32, "data");
  SSL_free(dialler);
  SSL_free(acceptor);
}

int main(int count, char **words) {
  int times = count > 1 ? atoi(words[1]) : 500;
  int has_chain = count > 2 && strcmp(words[2], "chain") == 0;
  EVP_PKEY *authority_key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
  X509 *authority = certificate(authority_key, "authority", NULL, authority_key);
  SSL_CTX *one = context("one", has_chain, authority, authority_key);
  SSL_CTX *other = context("other", has_chain, authority, authority_key);
  for (int i = 0; i < 20; i++) handshake(one, other);
  double begin = cpu();
  for (int i = 0; i < times; i++) handshake(one, other);
  printf("%.1f\n", (cpu() - begin) / times);
  return 0;
}
