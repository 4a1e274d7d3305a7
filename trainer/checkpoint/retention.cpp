#include "trainer/checkpoint/retention.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {
namespace {

constexpr char kTemporaryMark[] = ".tmp-e";

// The epoch in a temporary name; nullopt when the name is none.
std::optional<int64_t> EpochOfTemporary(const std::string& name) {
  const size_t mark = name.find(kTemporaryMark);
  if (name.rfind("step_", 0) != 0 || mark == std::string::npos) return std::nullopt;
  const char* first = name.data() + mark + sizeof(kTemporaryMark) - 1;
  int64_t epoch = 0;
  const auto [end, error] = std::from_chars(first, name.data() + name.size(), epoch);
  if (error != std::errc() || end == first) return std::nullopt;
  return epoch;
}

}  // namespace

std::vector<PublishedCheckpoint> CheckpointsToDelete(
    const std::vector<PublishedCheckpoint>& checkpoints, const RetentionPolicy& policy,
    const std::vector<std::string>& in_use) {
  const size_t keep_last = static_cast<size_t>(std::max(policy.keep_last, 1));
  std::vector<PublishedCheckpoint> doomed;
  for (size_t i = 0; i + keep_last < checkpoints.size(); ++i) {
    const PublishedCheckpoint& checkpoint = checkpoints[i];
    const bool milestone =
        policy.keep_every_steps > 0 && checkpoint.step % policy.keep_every_steps == 0;
    const bool used = std::find(in_use.begin(), in_use.end(), checkpoint.path) != in_use.end();
    if (!milestone && !used) doomed.push_back(checkpoint);
  }
  return doomed;
}

std::string TemporaryName(int64_t step, int64_t epoch, int64_t save) {
  return StepDirectoryName(step) + kTemporaryMark + std::to_string(epoch) + "-" +
         std::to_string(save);
}

void RemoveAbandoned(const std::string& directory, int64_t epoch) {
  std::error_code error;
  std::vector<std::filesystem::path> abandoned;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::optional<int64_t> its_epoch = EpochOfTemporary(entry->path().filename().string());
    if (its_epoch && *its_epoch < epoch) abandoned.push_back(entry->path());
  }
  for (const std::filesystem::path& path : abandoned) RemoveTree(path);
}

}  // namespace trainyard::trainer
