// Watches the expiry of the controller's certificate, after which no worker or client can connect.
#ifndef TRAINYARD_CONTROLLER_ACCESS_CERTIFICATE_WATCH_H_
#define TRAINYARD_CONTROLLER_ACCESS_CERTIFICATE_WATCH_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "proto/support/clock.h"

namespace trainyard::controller {

// Time before expiry at which warnings start.
inline constexpr int64_t kExpiryWarningMs = 14 * 86'400'000LL;

// Earliest expiry of the certificates in a PEM text, in Unix milliseconds; nullopt if none can be
// read.
std::optional<Timestamp> ExpiryOf(const std::string& pem);

// One sentence for log, command line and page; empty if the certificate does not expire soon.
std::string ExpiryWarning(Timestamp expires_ms, Timestamp now);

class CertificateWatch {
 public:
  // An empty PEM text means unencrypted connections, and no warnings.
  CertificateWatch(const std::string& pem, const Clock& clock);
  // Stops.
  ~CertificateWatch();

  // Logs the warning immediately and then once a day, on its own thread.
  void Start();

  std::optional<Timestamp> expires_ms() const { return expires_ms_; }
  // The current ExpiryWarning. Any thread.
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
