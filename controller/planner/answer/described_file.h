// Files that describe a run in a document's own words, and so also models that trainyard-trainer
// cannot train (README.md of recipes).
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_DESCRIBED_FILE_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_DESCRIBED_FILE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "controller/planner/described_run.h"
#include "proto/jobspec/reader.h"

namespace trainyard::planner {

struct DescribedFile {
  DescribedRun run;
  std::string describes;    // "a mixture of experts".
  std::string without_fp8;  // Recipe of the same run in bf16; empty: none is named.
};

// Value of data-parallel-sharding-strategy for a stage of ZeRO, from 0 to 3.
std::string ShardingName(int64_t zero);

// True for the text of such a file: it has the key `describes`.
bool IsDescribed(const std::string& text);

// Keys are Megatron-LM's options without their dashes, a document's figures are `claimed-...`; a
// model is of LLaMA's kind where nothing else is said. INVALID_ARGUMENT with every error, one a
// line: unknown keys with the nearest name, numbers out of range, sizes that are missing.
absl::StatusOr<DescribedFile> ReadDescribedFile(const JobFileText& file);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_DESCRIBED_FILE_H_
