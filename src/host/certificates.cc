#include "host/certificates.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace tau::host {
namespace {

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;

std::unexpected<Error> failed(const char* doing) {
  char text[256] = "unknown";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  return fail(ErrorCode::internal, std::string(doing) + ": " + text);
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}
std::string to_pem(X509* certificate) {
  Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return text_of(bio.get());
}
std::string to_pem(EVP_PKEY* key) {
  Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio.get());
}
Certificate read_certificate(const std::string& pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}
Key read_key(const std::string& pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  if (X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value)) {
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
}

Result<Certificate> make(const char* name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key,
                         Time now, long days) {
  Certificate made(X509_new());
  X509_set_version(made.get(), 2);
  unsigned char serial[16];
  RAND_bytes(serial, sizeof serial);
  serial[0] &= 0x7f;
  ASN1_INTEGER* number = X509_get_serialNumber(made.get());
  BIGNUM* big = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(big, number);
  BN_free(big);
  time_t start = std::chrono::duration_cast<seconds>(now.time_since_epoch()).count() - 3600;
  X509_time_adj_ex(X509_getm_notBefore(made.get()), 0, 0, &start);
  X509_time_adj_ex(X509_getm_notAfter(made.get()), static_cast<int>(days), 0, &start);
  X509_set_pubkey(made.get(), key);
  X509_NAME* subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509* signer = issuer == nullptr ? made.get() : issuer;
  X509_set_issuer_name(made.get(), X509_get_subject_name(signer));
  if (issuer == nullptr) {
    add_extension(made.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(made.get(), signer, NID_key_usage, "critical,keyCertSign,cRLSign");
  } else {
    add_extension(made.get(), signer, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(made.get(), signer, NID_key_usage, "critical,digitalSignature");
    add_extension(made.get(), signer, NID_ext_key_usage, "serverAuth");
    add_extension(made.get(), signer, NID_subject_alt_name,
                  "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:::1");
  }
  add_extension(made.get(), signer, NID_subject_key_identifier, "hash");
  add_extension(made.get(), signer, NID_authority_key_identifier, "keyid");
  if (X509_sign(made.get(), issuer_key, EVP_sha256()) == 0) return failed("signing a certificate");
  return made;
}

}  // namespace

Result<Certificates> make_certificates(Time now) {
  Key ca_key(EVP_EC_gen("P-256"));
  if (!ca_key) return failed("making a key");
  const Certificate ca = TRY(make("taugrid-ca", ca_key.get(), nullptr, ca_key.get(), now, 3650));
  Certificates made{.ca_pem = to_pem(ca.get()), .ca_key_pem = to_pem(ca_key.get())};
  TRY_VOID(renew_server_certificate(made, now));
  return made;
}

Result<void> renew_server_certificate(Certificates& certificates, Time now) {
  const Certificate ca = read_certificate(certificates.ca_pem);
  const Key ca_key = read_key(certificates.ca_key_pem);
  if (!ca || !ca_key)
    return fail(ErrorCode::invalid, "the CA certificate or key in the state folder cannot be read");
  Key key(EVP_EC_gen("P-256"));
  if (!key) return failed("making a key");
  const Certificate made =
      TRY(make("taugrid-apiserver", key.get(), ca.get(), ca_key.get(), now, 365));
  certificates.server_pem = to_pem(made.get());
  certificates.server_key_pem = to_pem(key.get());
  return {};
}

bool ends_soon(const std::string& certificate_pem, Time now) {
  const Certificate certificate = read_certificate(certificate_pem);
  if (!certificate) return true;
  time_t limit = std::chrono::duration_cast<seconds>(now.time_since_epoch()).count() + 30 * 86400;
  return X509_cmp_time(X509_get0_notAfter(certificate.get()), &limit) <= 0;
}

}  // namespace tau::host
