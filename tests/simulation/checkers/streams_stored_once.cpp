// For each rank's telemetry and output, the store contains a prefix
// of the written bytes, each byte once. Files are removed only after
// all of their bytes are stored, or after their job is deleted.
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

using controller::StreamKey;

class StreamsStoredOnceChecker : public Checker {
 public:
  const char* Name() const override { return "streams are stored once"; }

  std::string Check(const Step& step) override {
    if (!step.store.violation().empty()) return step.store.violation();
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (step.log[i].has_job_deleted()) deleted_.insert(step.log[i].job_deleted().job_id());
    }
    for (; removed_ < step.world.removed().size(); ++removed_) {
      const auto& [node_id, attempt, rank] = step.world.removed()[removed_];
      const Process* process = step.world.Find(node_id, attempt, rank);
      if (deleted_.contains(attempt.job_id)) continue;
      if (process != nullptr && !IsStored(step, *process)) {
        return absl::StrCat("files of job ", attempt.job_id, " attempt ", attempt.number, " rank ",
                            rank, " were removed before all of them was stored");
      }
    }
    for (const auto& [key, stream] : step.store.streams()) {
      if (std::string wrong = CheckStream(step, key, stream); !wrong.empty()) {
        return absl::StrCat("job ", key.job_id, " attempt ", key.attempt, " rank ", key.rank, ": ",
                            wrong);
      }
    }
    return "";
  }

 private:
  static bool IsStored(const Step& step, const Process& process) {
    const auto [job, attempt] = process.attempt;
    const auto records = static_cast<int64_t>(process.telemetry.size());
    return step.store.OffsetOf({job, attempt, process.rank, v1::STREAM_KIND_TELEMETRY}) >=
               records &&
           step.store.OffsetOf({job, attempt, process.rank, v1::STREAM_KIND_LOG}) >=
               process.output_bytes;
  }

  std::string CheckStream(const Step& step, const StreamKey& key, const StoredStream& stream) {
    int64_t& checked = checked_[key];
    if (stream.offset == checked) return "";
    const Process* process = step.world.FindRank({key.job_id, key.attempt}, key.rank);
    // The files of a lost machine no longer exist, so they cannot be compared.
    if (process == nullptr) return "";
    std::string wrong = key.kind == v1::STREAM_KIND_LOG ? CheckOutput(*process, stream, checked)
                                                        : CheckPoints(*process, stream, checked);
    checked = stream.offset;
    return wrong;
  }

  static std::string CheckOutput(const Process& process, const StoredStream& stream,
                                 int64_t checked) {
    if (stream.offset > process.output_bytes) return "more output is stored than it wrote";
    const bool same = static_cast<int64_t>(stream.output.size()) == stream.offset &&
                      stream.output.substr(checked) == OutputBetween(checked, stream.offset);
    return same ? "" : "other output is stored than it wrote";
  }

  // Rank 0 is always the lowest rank that writes metrics. Therefore all of its points are stored.
  static std::string CheckPoints(const Process& process, const StoredStream& stream,
                                 int64_t checked) {
    if (stream.offset > static_cast<int64_t>(process.telemetry.size())) {
      return "more telemetry is stored than it wrote";
    }
    if (process.rank != 0) return "";
    for (int64_t i = checked; i < stream.offset; ++i) {
      if (!process.telemetry[i].has_metrics()) continue;
      const auto points = stream.points.find("step_seconds");
      const int64_t at = process.telemetry[i].metrics().step();
      if (points == stream.points.end() || !points->second.contains(at)) {
        return absl::StrCat("the point of step ", at, " is not stored");
      }
    }
    return "";
  }

  std::size_t removed_ = 0;
  std::set<int64_t> deleted_;
  std::map<StreamKey, int64_t> checked_;
};

}  // namespace

std::unique_ptr<Checker> StreamsStoredOnce() {
  return std::make_unique<StreamsStoredOnceChecker>();
}

}  // namespace trainyard::simulation
