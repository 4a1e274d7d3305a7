#include "proto/access/connect_error.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access/certificate.h"
#include "proto/access/token_file.h"

namespace trainyard {
namespace {

bool HasAny(absl::string_view message, std::initializer_list<absl::string_view> parts) {
  for (const absl::string_view part : parts) {
    if (absl::StrContains(message, part)) return true;
  }
  return false;
}

std::string CaAdvice() {
  return absl::StrCat("set $", kCaFileVariable,
                      " to the controller's certificate or to that of its authority");
}

enum class Validity { kNoCertificate, kEarly, kExpired, kValid };

// Returns the validity period of the first certificate.
Validity ValidityOf(absl::string_view pem) {
  const std::vector<Certificate> certificates = CertificatesOf(pem);
  if (certificates.empty()) return Validity::kNoCertificate;
  const X509* first = certificates.front().get();
  if (X509_cmp_current_time(X509_get0_notBefore(first)) > 0) return Validity::kEarly;
  return X509_cmp_current_time(X509_get0_notAfter(first)) < 0 ? Validity::kExpired
                                                              : Validity::kValid;
}

// Returns the reason why the controller's certificate was rejected.
ConnectError ExplainRefusal(Validity trusted) {
  if (trusted == Validity::kExpired) {
    return {"the certificate in the CA file has expired",
            absl::StrCat("renew the certificate in the file that $", kCaFileVariable,
                         " names, or correct the clock of this machine if it is wrong")};
  }
  if (trusted == Validity::kEarly) {
    return {"the certificate in the CA file is not valid yet",
            "correct the clocks of both machines, or wait until the certificate is valid"};
  }
  return {"the controller's certificate is not from the authority in the CA file, or has expired",
          absl::StrCat(CaAdvice(),
                       ", or renew the certificate in the file of the controller's --tls-cert")};
}

// Explains a failure if its message shows that TLS caused it. Otherwise the result has no cause.
ConnectError ExplainTls(absl::string_view message, absl::string_view address, Validity trusted) {
  if (trusted == Validity::kNoCertificate) {
    return {"the CA file contains no readable certificate", CaAdvice()};
  }
  if (HasAny(message, {"WRONG_VERSION_NUMBER", "wrong version number"})) {
    return {"this program uses TLS, because it has a CA file, but the controller does not use TLS",
            absl::StrCat("start the controller with --tls-cert and --tls-key, or unset $",
                         kCaFileVariable, " and move ", kServiceCaFile, " away")};
  }
  if (HasAny(message, {"is not in peer certificate", "Hostname Verification"})) {
    return {absl::StrCat("the controller's certificate does not name ", address),
            "use a HOST that the certificate names, or issue the controller a certificate for this "
            "name (subjectAltName)"};
  }
  if (HasAny(message, {"CERTIFICATE_VERIFY_FAILED", "certificate verify failed"})) {
    return ExplainRefusal(trusted);
  }
  if (HasAny(message, {"Ssl handshake failed", "SSL handshake failed"})) {
    return {absl::StrCat("the TLS handshake with ", address, " failed"), CaAdvice()};
  }
  return {};
}

std::string ExplainNetwork(absl::string_view message) {
  if (HasAny(message, {"Connection refused"})) return "connection refused";
  if (HasAny(message, {"DNS resolution failed", "Domain name not found"})) {
    return "the host name is not known";
  }
  if (HasAny(message, {"No route to host"})) return "no route to the host";
  if (HasAny(message, {"Network is unreachable"})) return "the network is unreachable";
  return "";
}

bool IsClosed(absl::string_view message) {
  return HasAny(message, {"handshaker shutdown", "Socket closed", "Connection reset",
                          "Endpoint closing", "Broken pipe"});
}

}  // namespace

ConnectError ExplainConnectError(absl::string_view message, absl::string_view address,
                                 absl::string_view trusted) {
  if (!trusted.empty()) {
    ConnectError error = ExplainTls(message, address, ValidityOf(trusted));
    if (!error.cause.empty()) return error;
  }
  if (!IsClosed(message)) return ExplainLostConnection(message);
  return {
      "the connection was closed without an answer: either the controller expects TLS, or another "
      "program listens at this address",
      absl::StrCat("for TLS ", CaAdvice())};
}

ConnectError ExplainLostConnection(absl::string_view message) {
  if (std::string cause = ExplainNetwork(message); !cause.empty()) return {std::move(cause), ""};
  if (IsClosed(message)) return {"the connection was closed", ""};
  if (HasAny(message, {"Timeout", "timed out"})) return {"no answer", ""};
  return {std::string(message), ""};
}

std::string ConnectErrorText(const ConnectError& error) {
  return error.advice.empty() ? error.cause : absl::StrCat(error.cause, "; ", error.advice);
}

}  // namespace trainyard
