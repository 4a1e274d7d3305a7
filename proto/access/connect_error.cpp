#include "proto/access/connect_error.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// Failures of TLS with certainty; no cause for others.
ConnectError ExplainTls(absl::string_view message, absl::string_view address) {
  if (HasAny(message, {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE"})) {
    return {"the controller does not use TLS, and this program does, because it has a CA file",
            absl::StrCat("start the controller with --tls-cert and --tls-key, or unset $",
                         kCaFileVariable, " and move ", kServiceCaFile, " away")};
  }
  if (HasAny(message, {"is not in peer certificate", "Hostname Verification", "HOSTNAME_MISMATCH",
                       "hostname mismatch"})) {
    return {absl::StrCat("the controller's certificate is for another name than ", address),
            "use a HOST that the certificate names, or give the controller a certificate for this "
            "one (subjectAltName)"};
  }
  if (HasAny(message, {"certificate has expired", "CERTIFICATE_EXPIRED"})) {
    return {"the controller's certificate has expired",
            "renew the file of the controller's --tls-cert and restart the controller; a wrong "
            "clock of this machine looks the same"};
  }
  if (HasAny(message, {"certificate is not yet valid"})) {
    return {"the controller's certificate is not valid yet",
            "set the clocks of both machines, or wait until the certificate is valid"};
  }
  if (HasAny(message, {"CERTIFICATE_VERIFY_FAILED", "certificate verify failed"})) {
    return {"the controller's certificate is not from the authority in the CA file", CaAdvice()};
  }
  if (HasAny(message, {"handshaker factory creation failed", "Handshaker factory creation failed",
                       "root cert", "Failed to create security"})) {
    return {"the CA file holds no certificate that can be read", CaAdvice()};
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
                                 bool was_connected) {
  if (!was_connected) {
    ConnectError error = ExplainTls(message, address);
    if (!error.cause.empty()) return error;
  }
  if (std::string cause = ExplainNetwork(message); !cause.empty()) return {std::move(cause), ""};
  if (IsClosed(message) && was_connected) return {"the connection was closed", ""};
  if (IsClosed(message)) {
    return {
        "the connection was closed before an answer: the controller expects TLS, or another "
        "program listens there",
        absl::StrCat("for TLS ", CaAdvice())};
  }
  if (HasAny(message, {"Timeout", "timed out"})) return {"no answer", ""};
  return {std::string(message), ""};
}

std::string ConnectErrorText(const ConnectError& error) {
  return error.advice.empty() ? error.cause : absl::StrCat(error.cause, "; ", error.advice);
}

}  // namespace trainyard
