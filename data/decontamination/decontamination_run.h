// Removes documents that overlap evaluation sets from a data set.
#ifndef TRAINYARD_DATA_DECONTAMINATION_DECONTAMINATION_RUN_H_
#define TRAINYARD_DATA_DECONTAMINATION_DECONTAMINATION_RUN_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/decontamination/evaluation_index.h"
#include "data/input/input_files.h"
#include "data/stages/plan.h"
#include "data/stages/run_stage.h"

namespace trainyard::data {

struct DecontaminationSettings {
  OverlapSettings overlap;
  std::string evaluation_field;  // key of the text in JSON lines of evaluation sets
  RunSettings run;
  PlanLimits limits;
};

// The documents dropped for the documents of one evaluation file.
struct OverlappedFile {
  std::string file;
  int64_t documents = 0;
  int64_t bytes = 0;                 // of text
  std::vector<std::string> samples;  // "FILE:LINE"; "FILE" for plain text
};

struct DecontaminationResult {
  int64_t evaluation_documents = 0;
  int64_t ignored = 0;  // evaluation documents with too few words
  int64_t ngrams = 0;   // different ones of the evaluation documents
  int64_t documents_in = 0;
  int64_t documents_out = 0;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
  std::vector<OverlappedFile> overlapped;  // sorted by file
  std::string bad_lines;  // BadLineLog::Summary of the inputs; "" if there are none
  int64_t repaired = 0;   // lines and files with replaced bytes
};

// Writes a directory of data/stages. A dropped document begins with {"trainyard_dropped":
// {"evaluation": "FILE:LINE", "hits": ..., "share": ...}}, and its reason is the evaluation file.
// The output does not depend on the number of threads. An interrupted run reads the evaluation sets
// again and continues.
//
// Half of the memory is for the n-grams. Returns the errors of EvaluationIndex, PlanStage and
// RunStage, and InvalidArgument if the evaluation sets contain no document of min_words words.
absl::StatusOr<DecontaminationResult> RunDecontamination(const std::vector<InputFile>& files,
                                                         const std::vector<InputFile>& evaluation,
                                                         const DecontaminationSettings& settings,
                                                         const RunObserver& observer,
                                                         const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DECONTAMINATION_DECONTAMINATION_RUN_H_
