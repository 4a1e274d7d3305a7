// Reads certificates.
#ifndef TRAINYARD_PROTO_ACCESS_CERTIFICATE_H_
#define TRAINYARD_PROTO_ACCESS_CERTIFICATE_H_

#include <openssl/x509.h>

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"

namespace trainyard {

using Certificate = std::shared_ptr<X509>;

// Returns the certificates in a PEM text, in order. Stops at the first one that cannot be read.
std::vector<Certificate> CertificatesOf(absl::string_view pem);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CERTIFICATE_H_
