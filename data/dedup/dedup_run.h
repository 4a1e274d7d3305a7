// Removes duplicates from data sets: the signatures, the decisions and the output.
#ifndef TRAINYARD_DATA_DEDUP_DEDUP_RUN_H_
#define TRAINYARD_DATA_DEDUP_DEDUP_RUN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dedup/decider.h"
#include "data/dedup/dedup_settings.h"
#include "data/input/input_files.h"
#include "data/stages/plan.h"
#include "data/stages/run_stage.h"

namespace trainyard::data {

struct DedupRunSettings {
  DedupSettings dedup;
  RunSettings run;
  std::string scratch;  // existing directory for scratch files; "": next to the output
  PlanLimits limits;
};

// Called on the caller's thread, except `advance`.
struct DedupObserver {
  // `bytes`: on disk, that the step reads; 0 if it reads no input.
  std::function<void(const std::string& step, int64_t bytes)> start;
  std::function<void(int64_t bytes)> advance;  // called by one thread at a time
};

struct ReportedDuplicate {
  std::string id;         // "FILE:LINE"; "FILE" for plain text
  double similarity = 1;  // to the kept document
};

struct ReportedCluster {
  static constexpr size_t kMembers = 10;  // maximum number of `members`

  std::string kept;  // as ReportedDuplicate::id
  uint64_t documents = 0;
  double lowest_similarity = 1;            // to the kept document
  std::vector<ReportedDuplicate> members;  // the first ones in the order of the inputs
};

struct DedupResult {
  int64_t references = 0;
  int64_t documents_in = 0;  // without references
  int64_t documents_out = 0;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
  uint64_t clusters = 0;
  std::vector<ReportedCluster> largest;
  std::string bad_lines;  // BadLineLog::Summary; "" if there are none
  int64_t repaired = 0;   // lines and files with replaced bytes
};

// Writes a directory of data/stages with the kept documents of `files` in part-*, and the others in
// dropped-* with the place of the kept document and the similarity. The first of several like
// documents, in the order of files and lines, is kept. Documents like one of `references` are
// dropped; the references are not written. The output does not depend on the number of threads.
// report.json contains the clusters under "dedup".
//
// An interrupted run repeats the decisions, and continues the output. Returns the errors of
// RunStage, PlanStage and BucketSorter.
absl::StatusOr<DedupResult> RunDedup(const std::vector<InputFile>& files,
                                     const std::vector<InputFile>& references,
                                     const DedupRunSettings& settings,
                                     const DedupObserver& observer,
                                     const std::atomic<bool>& cancelled);

// The settings in the plan of a run. `against`: the plan of the references; null if there are none.
nlohmann::ordered_json SettingsJson(const DedupSettings& settings, const Plan* against);

// The largest clusters of a decision, and Stage::details with them.
absl::StatusOr<std::vector<ReportedCluster>> ClustersOf(const Decider& decider);
nlohmann::ordered_json DetailsJson(const Decider& decider,
                                   const std::vector<ReportedCluster>& clusters);

// The reason of dropped documents in records and reports.
inline constexpr char kDuplicateReason[] = "duplicate";

// Returns the JSON object of places and similarity that dropped-* contain for a document.
absl::StatusOr<std::string> ReasonOf(const Decider& decider, const DroppedDocument& dropped);
// Inserts the reason into the JSON object of a document, as `data filter` does. The object has a
// text and is therefore not empty.
std::string WithReason(std::string_view json, const std::string& reason);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DEDUP_RUN_H_
