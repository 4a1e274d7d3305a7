// After an event log has gone back in time, no job or attempt number is assigned a second time.
// Ranks of lost attempts are neither stopped nor forgotten before all their data is stored. No
// stream mixes the output of two attempts.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// Time within which an attached worker receives the mark of a new event.
constexpr int64_t kMarksArriveMs = 10'000;

class LostHistoryIsKeptChecker : public Checker {
 public:
  const char* Name() const override { return "lost history is kept"; }

  std::string Check(const Step& step) override {
    // The log has become shorter because it went back in time or because its end was replaced.
    if (step.log.size() < log_size_) went_back_ms_ = step.now;
    log_size_ = step.log.size();
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = TakeEvent(step, step.log[i]); !wrong.empty()) return wrong;
    }
    if (went_back_ms_ == 0) return CheckStreams(step);
    const std::set<AttemptKey> known = AttemptsIn(step.log);
    for (const SentMessage& sent : step.sent) {
      if (std::string wrong = CheckMessage(step, known, sent); !wrong.empty()) return wrong;
    }
    return CheckStreams(step);
  }

 private:
  std::string TakeEvent(const Step& step, const v1::Event& event) {
    if (event.has_job_submitted()) {
      const int64_t job_id = event.job_submitted().job_id();
      const auto [known, is_new] = jobs_.try_emplace(job_id, step.now);
      if (!is_new && WasSeen(step, {job_id, 0}, known->second)) {
        return absl::StrCat("job number ", job_id, " was reused");
      }
    } else if (event.has_job_placed()) {
      const AttemptKey key{event.job_placed().job_id(), event.job_placed().attempt()};
      const auto [known, is_new] = attempts_.try_emplace(key, step.now);
      if (!is_new && WasSeen(step, key, known->second)) {
        return absl::StrCat("attempt ", key.number, " of job ", key.job_id, " was reused");
      }
    }
    return "";
  }

  // True if a worker has seen the number. Either a worker has started this attempt (for attempt
  // number 0, any attempt of the job), or a mark has reached the workers since the number was
  // assigned. If no worker has seen a number, nobody can notice its loss.
  bool WasSeen(const Step& step, const AttemptKey& key, Timestamp assigned_ms) const {
    if (went_back_ms_ - assigned_ms > kMarksArriveMs) return true;
    for (const auto& [id, process] : step.world.processes()) {
      const bool matches = process.attempt.job_id == key.job_id &&
                           (key.number == 0 || process.attempt.number == key.number);
      if (matches) return true;
    }
    return false;
  }

  static std::set<AttemptKey> AttemptsIn(const std::vector<v1::Event>& log) {
    std::set<AttemptKey> attempts;
    for (const v1::Event& event : log) {
      if (!event.has_job_placed()) continue;
      attempts.insert({event.job_placed().job_id(), event.job_placed().attempt()});
    }
    return attempts;
  }

  static bool AllStored(const Step& step, const AttemptKey& attempt, const std::string& node_id) {
    for (const auto& [key, process] : step.world.processes()) {
      if (process.attempt != attempt || process.node_id != node_id) continue;
      const controller::StreamKey log{attempt.job_id, attempt.number, process.rank,
                                      v1::STREAM_KIND_LOG};
      if (step.store.OffsetOf(log) < process.output_bytes) return false;
    }
    return true;
  }

  // A start or stop command ends all older attempts of the job on its node.
  std::string CheckMessage(const Step& step, const std::set<AttemptKey>& known,
                           const SentMessage& sent) const {
    AttemptKey newest;
    if (sent.message.has_stop_attempt()) {
      newest = {sent.message.stop_attempt().job_id(), sent.message.stop_attempt().attempt()};
    } else if (sent.message.has_start_attempt()) {
      newest = {sent.message.start_attempt().job_id(), sent.message.start_attempt().attempt()};
    } else if (sent.message.has_forget_attempt()) {
      newest = {sent.message.forget_attempt().job_id(), sent.message.forget_attempt().attempt()};
      if (known.contains(newest) || AllStored(step, newest, sent.node_id)) return "";
      return absl::StrCat("the lost attempt ", newest.number, " of job ", newest.job_id,
                          " was forgotten on ", sent.node_id);
    } else {
      return "";
    }
    for (const auto& [key, process] : step.world.processes()) {
      const bool goes = process.node_id == sent.node_id && !process.exited.has_value() &&
                        process.attempt.job_id == newest.job_id &&
                        process.attempt.number <= newest.number;
      if (!goes || known.contains(process.attempt)) continue;
      return absl::StrCat("rank ", process.rank, " of the lost attempt ", process.attempt.number,
                          " of job ", newest.job_id, " was stopped on ", sent.node_id);
    }
    return "";
  }

  // Checks that the stored data of each stream was written by only one process.
  static std::string CheckStreams(const Step& step) {
    for (const auto& [key, stream] : step.store.streams()) {
      const Process* process = step.world.FindRank({key.job_id, key.attempt}, key.rank);
      if (process == nullptr || key.kind != v1::STREAM_KIND_LOG) continue;
      if (stream.offset > process->output_bytes) {
        return absl::StrCat("job ", key.job_id, " attempt ", key.attempt, " rank ", key.rank,
                            " has output that it did not write");
      }
    }
    return step.store.violation();
  }

  std::size_t log_size_ = 0;
  Timestamp went_back_ms_ = 0;
  // The time at which each job id was first assigned.
  std::map<int64_t, Timestamp> jobs_;
  std::map<AttemptKey, Timestamp> attempts_;
};

}  // namespace

std::unique_ptr<Checker> LostHistoryIsKept() {
  return std::make_unique<LostHistoryIsKeptChecker>();
}

}  // namespace trainyard::simulation
