// Files that describe a run in a document's own words, including models that trainyard-trainer
// cannot train (recipes/README.md).
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
  std::string describes;    // For example "a mixture of experts".
  std::string without_fp8;  // Recipe of the same run in bf16; empty if none is named.
};

// Value of data-parallel-sharding-strategy for a ZeRO stage from 0 to 3.
std::string ShardingName(int64_t zero);

// True for the text of such a file: it has the key `describes`.
bool IsDescribed(const std::string& text);

// Keys are Megatron-LM's options without dashes; the document's figures are `claimed-...`. A model
// is LLaMA-like unless stated otherwise. INVALID_ARGUMENT lists all errors, one per line: unknown
// keys with the nearest name, numbers out of range, missing sizes.
absl::StatusOr<DescribedFile> ReadDescribedFile(const JobFileText& file);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_DESCRIBED_FILE_H_
