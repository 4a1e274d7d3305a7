// The end of the controller's certificate: from that moment on no worker and no client gets in.
#ifndef TRAINYARD_CONTROLLER_ACCESS_CERTIFICATE_WATCH_H_
#define TRAINYARD_CONTROLLER_ACCESS_CERTIFICATE_WATCH_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "proto/support/clock.h"

namespace trainyard::controller {

// A certificate that expires within this time is warned of.
inline constexpr int64_t kExpiryWarningMs = 14 * 86'400'000LL;

// The end of the first certificate of a PEM text to expire, Unix milliseconds; nothing when there
// is none that can be read.
std::optional<Timestamp> ExpiryOf(const std::string& pem);

// One sentence for log, command line and page; empty for a certificate that is not near its end.
std::string ExpiryWarning(Timestamp expires_ms, Timestamp now);

class CertificateWatch {
 public:
  // An empty text: connections are not encrypted, and nothing is warned of.
  CertificateWatch(const std::string& pem, const Clock& clock);
  // Stops.
  ~CertificateWatch();

  // Writes the warning to the log, at once and once a day, on a thread of its own.
  void Start();

  std::optional<Timestamp> expires_ms() const { return expires_ms_; }
  // As ExpiryWarning has it, now. Any thread.
  std::string Warning() const;

 private:
  void Run();

  const std::optional<Timestamp> expires_ms_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_CERTIFICATE_WATCH_H_
