// Retries of failed checkpoint removals.
#ifndef TRAINYARD_CONTROLLER_RETENTION_REMOVAL_RETRIES_H_
#define TRAINYARD_CONTROLLER_RETENTION_REMOVAL_RETRIES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::controller {

// A removal is abandoned after this many tries. All tries together take 2 hours.
inline constexpr int kMaxRemovalTries = 8;
// The wait before the second try. Each further wait is three times as long, up to kMaxRemovalWait.
inline constexpr std::chrono::seconds kFirstRemovalWait{10};
inline constexpr std::chrono::seconds kMaxRemovalWait{3600};

// Not persistent: after a restart of the controller, every removal is tried again, because an
// operator may have fixed the cause. Has no side effects; callers pass the steady time.
class RemovalRetries {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Returns false while the path waits for its next try, and after its removal was abandoned.
  bool IsDue(const std::string& path, Time now) const;
  void Succeeded(const std::string& path) { failures_.erase(path); }
  // Records a failed try and returns the line to log.
  std::string Failed(int64_t job_id, const std::string& path, const std::string& cause, Time now);
  // Returns the time of the earliest pending try, or nullopt if no try is pending.
  std::optional<Time> NextTry() const;
  // Returns one line per abandoned removal, with path, cause and advice. After 10 lines, a last
  // line states the number of further abandoned removals.
  std::vector<std::string> Warnings() const;

 private:
  struct Failure {
    int64_t job_id = 0;
    std::string cause;
    int tries = 0;
    Time next_try;

    bool is_abandoned() const { return tries >= kMaxRemovalTries; }
  };
  static std::string Abandoned(const std::string& path, const Failure& failure);

  std::map<std::string, Failure> failures_;  // By path.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_REMOVAL_RETRIES_H_
