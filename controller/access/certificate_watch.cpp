#include "controller/access/certificate_watch.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "proto/access/certificate.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::hours kLogEvery{24};
constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;

std::optional<Timestamp> EndOf(const X509& certificate) {
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &end) != 1) return std::nullopt;
  return static_cast<Timestamp>(timegm(&end)) * 1000;
}

}  // namespace

std::optional<Timestamp> ExpiryOf(const std::string& pem) {
  std::optional<Timestamp> first;
  for (const Certificate& certificate : CertificatesOf(pem)) {
    const std::optional<Timestamp> end = EndOf(*certificate);
    if (end.has_value()) first = std::min(first.value_or(*end), *end);
  }
  return first;
}

std::string ExpiryWarning(Timestamp expires_ms, Timestamp now) {
  const int64_t left_ms = expires_ms - now;
  if (left_ms > kExpiryWarningMs) return "";
  const std::string when =
      left_ms <= 0
          ? "has expired, so workers and clients cannot connect"
          : absl::StrCat("expires in ", left_ms / kDayMs, " d ", left_ms % kDayMs / kHourMs,
                         " h; after that, workers and clients ", "cannot connect");
  return absl::StrCat("the controller's TLS certificate ", when,
                      "; replace the certificate and restart the controller");
}

CertificateWatch::CertificateWatch(const std::string& pem, const Clock& clock)
    : expires_ms_(ExpiryOf(pem)), clock_(clock) {}

CertificateWatch::~CertificateWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CertificateWatch::Start() {
  if (expires_ms_.has_value()) thread_ = std::thread([this] { Run(); });
}

std::string CertificateWatch::Warning() const {
  return expires_ms_.has_value() ? ExpiryWarning(*expires_ms_, clock_.Now()) : "";
}

void CertificateWatch::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::string warning = Warning();
    if (!warning.empty()) spdlog::warn("{}", warning);
    changed_.wait_for(lock, kLogEvery, [this] { return stopping_; });
  }
}

}  // namespace trainyard::controller
