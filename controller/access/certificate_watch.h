// Warns before the controller's certificate expires. With an expired certificate, no worker or
// client can connect.
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

// Returns the earliest expiry, in Unix milliseconds, of the certificates in a PEM text. Returns
// nullopt if no certificate can be read.
std::optional<Timestamp> ExpiryOf(const std::string& pem);

// Returns the warning as one sentence, for the log, the command line and the dashboard. Empty if
// the certificate does not expire soon.
std::string ExpiryWarning(Timestamp expires_ms, Timestamp now);

class CertificateWatch {
 public:
  // If the PEM text is empty, connections are not encrypted and there are no warnings.
  CertificateWatch(const std::string& pem, const Clock& clock);
  // Stops.
  ~CertificateWatch();

  // Starts a thread that logs the warning immediately and then once a day.
  void Start();

  std::optional<Timestamp> expires_ms() const { return expires_ms_; }
  // Returns the current ExpiryWarning. May be called on any thread.
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
