// Repeated removals of checkpoints that fail: when the next try is due, and when there is none.
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

// A removal is tried this often, over 2 hours, and then abandoned.
inline constexpr int kMaxRemovalTries = 8;
// Before the second try; three times as long before each further one, up to an hour.
inline constexpr std::chrono::seconds kFirstRemovalWait{10};
inline constexpr std::chrono::seconds kMaxRemovalWait{3600};

// Pure: the steady time comes as an argument. Not kept over a restart, after which every removal is
// tried again: an operator may have mended the cause.
class RemovalRetries {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // False while the path waits for its next try, and once its removal is abandoned.
  bool IsDue(const std::string& path, Time now) const;
  void Succeeded(const std::string& path) { failures_.erase(path); }
  // Notes a failed try and returns the line for the log. Not due before the returned wait is over.
  std::string Failed(int64_t job_id, const std::string& path, const std::string& cause, Time now);
  // Time of the next try of any path; nullopt when none waits.
  std::optional<Time> NextTry() const;
  // Abandoned removals, one line each with path, cause and next step; at most 10 and one that
  // counts the others.
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
