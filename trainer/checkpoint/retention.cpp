#include "trainer/checkpoint/retention.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr char kTemporaryMark[] = ".tmp-";
// Suffix that a newer attempt adds to the name of an unfinished directory, so that the directory's
// owner can no longer publish it.
constexpr char kTakenMark[] = "-taken";
// The letter before the attempt number. The letter cannot change, because ranks of earlier versions
// must build the same directory name.
constexpr char kAttemptLetter = 'e';
// The letter before the generation. Generation 1 is omitted.
constexpr char kGenerationLetter = 'g';

// Removes "<letter><number>-" from the beginning of `text` and returns the number. Returns nullopt
// if `text` does not begin in this way.
std::optional<int64_t> TakeNumber(char letter, std::string_view& text) {
  if (text.empty() || text.front() != letter) return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc() || stop == end || *stop != '-') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()) + 1);
  return number;
}

// Returns the writer that a temporary directory name identifies; nullopt if `name` is not such a
// name.
std::optional<WriterKey> OwnerOfTemporary(const std::string& name) {
  const size_t mark = name.find(kTemporaryMark);
  if (name.rfind("step_", 0) != 0 || mark == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(name).substr(mark + sizeof(kTemporaryMark) - 1);
  const int64_t job_id = TakeNumber('j', rest).value_or(0);
  const std::optional<int64_t> attempt_number = TakeNumber(kAttemptLetter, rest);
  if (!attempt_number) return std::nullopt;
  const int64_t generation = TakeNumber(kGenerationLetter, rest).value_or(1);
  return WriterKey{{job_id, *attempt_number}, generation};
}

// Returns the paths of the directories with temporary names.
std::vector<std::filesystem::path> Unfinished(const std::string& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (OwnerOfTemporary(entry->path().filename().string())) paths.push_back(entry->path());
  }
  return paths;
}

}  // namespace

std::vector<std::string> BestCheckpoints(const std::vector<PublishedCheckpoint>& checkpoints,
                                         const std::string& set, int count) {
  struct Judged {
    double loss = 0;
    std::string path;
  };
  std::vector<Judged> judged;
  std::set<std::pair<int64_t, double>> evaluations;
  for (const PublishedCheckpoint& checkpoint : checkpoints) {
    const std::optional<double> loss = checkpoint.evaluation.LossOn(set);
    if (!loss.has_value() || !evaluations.insert({checkpoint.evaluation.step, *loss}).second) {
      continue;
    }
    judged.push_back({*loss, checkpoint.path});
  }
  std::stable_sort(judged.begin(), judged.end(),
                   [](const Judged& a, const Judged& b) { return a.loss < b.loss; });
  std::vector<std::string> paths;
  for (const Judged& checkpoint : judged) {
    if (static_cast<int>(paths.size()) >= count) break;
    paths.push_back(checkpoint.path);
  }
  return paths;
}

std::vector<PublishedCheckpoint> CheckpointsToDelete(const std::vector<PublishedCheckpoint>& all,
                                                     const RetentionPolicy& policy,
                                                     const std::vector<std::string>& in_use) {
  std::vector<PublishedCheckpoint> checkpoints, doomed;
  for (const PublishedCheckpoint& checkpoint : all) {
    const bool is_bad =
        IsRolledBack(policy.rolled_back, checkpoint.attempt.number, checkpoint.step);
    (is_bad ? doomed : checkpoints).push_back(checkpoint);
  }
  const size_t keep_last = static_cast<size_t>(std::max(policy.keep_last, 1));
  const std::vector<std::string> best =
      BestCheckpoints(checkpoints, policy.best_set, policy.keep_best);
  const auto is_in = [](const std::vector<std::string>& paths, const std::string& path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  };
  for (size_t i = 0; i + keep_last < checkpoints.size(); ++i) {
    const PublishedCheckpoint& checkpoint = checkpoints[i];
    const bool milestone =
        policy.keep_every_steps > 0 && checkpoint.step % policy.keep_every_steps == 0;
    const bool kept = is_in(in_use, checkpoint.path) || is_in(best, checkpoint.path);
    if (!milestone && !kept) doomed.push_back(checkpoint);
  }
  return doomed;
}

std::string TemporaryName(int64_t step, const WriterKey& writer, int64_t save) {
  const std::string job =
      writer.attempt.job_id == 0 ? "" : "j" + std::to_string(writer.attempt.job_id) + "-";
  const std::string generation =
      writer.generation == 1 ? "" : kGenerationLetter + std::to_string(writer.generation) + "-";
  return StepDirectoryName(step) + kTemporaryMark + job + kAttemptLetter +
         std::to_string(writer.attempt.number) + "-" + generation + std::to_string(save);
}

void TakeFromOlder(const std::string& directory, const WriterKey& writer) {
  for (const std::filesystem::path& path : Unfinished(directory)) {
    const std::string name = path.filename().string();
    const bool is_taken = name.ends_with(kTakenMark);
    if (is_taken || *OwnerOfTemporary(name) >= writer) continue;
    std::error_code error;
    std::filesystem::rename(path, path.string() + kTakenMark, error);
    // If the directory no longer exists under this name, its owner has published it or another rank
    // has renamed it.
    if (!error || error == std::errc::no_such_file_or_directory) continue;
    throw TrainerError(ExitCode::kCannotWrite,
                       "cannot rename " + path.string() +
                           ", a file of an older attempt: " + error.message() +
                           "; remove this file once no process of that attempt is running");
  }
}

void RemoveAbandoned(const std::string& directory, const WriterKey& writer) {
  for (const std::filesystem::path& path : Unfinished(directory)) {
    if (*OwnerOfTemporary(path.filename().string()) <= writer) RemoveTree(path.string());
  }
}

}  // namespace trainyard::trainer
