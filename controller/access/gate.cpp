#include "controller/access/gate.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/access/secret.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kOpenCodes = 1000;
constexpr absl::string_view kBearer = "Bearer ";

}  // namespace

bool AccessGate::TakesHeader(absl::string_view authorization) const {
  if (open()) return true;
  return absl::StartsWithIgnoreCase(authorization, kBearer) &&
         SameSecret(absl::StripAsciiWhitespace(authorization.substr(kBearer.size())), token_);
}

std::string AccessGate::Signed(int64_t expires_ms, absl::string_view nonce) const {
  const std::string text = absl::StrCat(expires_ms, ".", nonce);
  return absl::StrCat(text, ".", KeyedHashOf(token_, absl::StrCat("session ", text)));
}

bool AccessGate::TakesCookie(absl::string_view cookies) const {
  if (open()) return true;
  for (const absl::string_view cookie : absl::StrSplit(cookies, ';')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(absl::StripAsciiWhitespace(cookie), absl::MaxSplits('=', 1));
    if (parts.first != kSessionCookie) continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(parts.second, '.');
    int64_t expires_ms = 0;
    if (fields.size() != 3 || !absl::SimpleAtoi(fields[0], &expires_ms)) continue;
    if (SameSecret(parts.second, Signed(expires_ms, fields[1])) && clock_.Now() < expires_ms) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<std::string> AccessGate::MakeCode() {
  const Timestamp now = clock_.Now();
  const std::lock_guard lock(mutex_);
  std::erase_if(codes_, [now](const auto& code) { return code.second <= now; });
  if (codes_.size() >= kOpenCodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kOpenCodes, " codes for the dashboard are open; they end after ",
                     kCodeLifeMs / 60'000, " minutes"));
  }
  const std::string code = NewSecret();
  codes_[HashOf(code)] = now + kCodeLifeMs;
  return code;
}

std::string AccessGate::MakeSession(absl::string_view code) {
  const Timestamp now = clock_.Now();
  const std::lock_guard lock(mutex_);
  const auto found = codes_.find(HashOf(code));
  if (found == codes_.end()) return "";
  const bool expired = found->second <= now;
  codes_.erase(found);
  return expired ? "" : Signed(now + kSessionLifeMs, NewSecret());
}

}  // namespace trainyard::controller
