#include "proto/access/certificate.h"

#include <openssl/bio.h>
#include <openssl/pem.h>

namespace trainyard {

std::vector<Certificate> CertificatesOf(absl::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  std::vector<Certificate> certificates;
  if (text == nullptr) return certificates;
  while (X509* next = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(next, X509_free);
  }
  return certificates;
}

}  // namespace trainyard
