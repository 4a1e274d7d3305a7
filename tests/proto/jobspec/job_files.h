// Resolves job files in memory and returns the errors.
#ifndef TRAINYARD_TESTS_PROTO_JOBSPEC_JOB_FILES_H_
#define TRAINYARD_TESTS_PROTO_JOBSPEC_JOB_FILES_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/loader.h"

namespace trainyard {

// The contents of each file, by file name.
using Files = std::map<std::string, std::string>;

inline JobFileReader ReaderOf(Files files) {
  return [files = std::move(files)](const std::string& reference,
                                    const std::string&) -> absl::StatusOr<JobFileText> {
    const auto file = files.find(reference);
    if (file == files.end()) return absl::NotFoundError("no file " + reference);
    return JobFileText{reference, file->second};
  };
}

inline absl::StatusOr<ResolvedSpec> Resolve(const std::string& text,
                                            const std::vector<std::string>& overrides = {}) {
  return ResolveJobFile("job.yaml", overrides, ReaderOf({{"job.yaml", text}}));
}

inline std::vector<std::string> Errors(const std::string& text,
                                       const std::vector<std::string>& overrides = {}) {
  const auto resolved = Resolve(text, overrides);
  if (resolved.ok()) return {};
  EXPECT_EQ(resolved.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(resolved.status().message()), '\n');
}

inline constexpr char kCommandJob[] = "name: hello\ncommand: [python3, a.py]\n";

inline constexpr char kModelJob[] = R"(name: tiny
resources: {nodes: 2, device: cpu}
model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 4,
        vocab_size: 256}
data: {path: /data}
train: {seq_length: 32, global_batch: 8, steps: 10}
)";

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_PROTO_JOBSPEC_JOB_FILES_H_
