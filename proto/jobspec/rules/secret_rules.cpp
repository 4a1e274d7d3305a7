#include "proto/jobspec/rules/secret_rules.h"

#include <cstddef>

#include "re2/re2.h"

namespace trainyard {

bool HoldsSecret(const std::string& text) {
  static const RE2 kForms(
      "\\bsk-[A-Za-z0-9_-]{16}|\\bgh[pousr]_[A-Za-z0-9]{20}|\\bgithub_pat_[A-Za-z0-9_]{20}|"
      "\\bhf_[A-Za-z0-9]{20}|\\bxox[abpr]-[A-Za-z0-9-]{10}|\\bAKIA[0-9A-Z]{16}\\b|"
      "hooks\\.slack\\.com/services/|://[^/\\s:@]+:[^/\\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY");
  return RE2::PartialMatch(text, kForms);
}

bool HasSecretName(const std::string& name) {
  static const RE2 kSecretName(
      "(?i)(.*_)?(TOKEN|PASSWORD|PASSWD|PASS|SECRET|CREDENTIALS?|AUTHORIZATION|WEBHOOK(_URL)?|"
      "(API|APP|ACCESS|AUTH|SECRET|PRIVATE|SIGNING|ENCRYPTION|WEBHOOK)_?KEY)");
  return RE2::FullMatch(name, kSecretName);
}

bool LooksSecret(const std::string& name, const std::string& value) {
  constexpr std::size_t kShortestSecret = 8;
  if (HoldsSecret(value)) return true;
  return value.size() >= kShortestSecret && HasSecretName(name);
}

}  // namespace trainyard
