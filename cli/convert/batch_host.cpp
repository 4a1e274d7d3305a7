#include "cli/convert/batch_host.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {
namespace {

constexpr char kCpus[] = "resources.cpus_per_rank";
constexpr char kMemory[] = "resources.memory_per_rank";
// The limits of these settings.
constexpr int64_t kMostCpus = 4096;
constexpr int64_t kLeastBytes = int64_t{1} << 20;
constexpr int64_t kMostBytes = int64_t{1} << 50;
// Counts above this limit are no counts of a machine. Products of them do not overflow.
constexpr int64_t kMostCount = 1'000'000;

// Returns "64GiB" or "1536MiB": the largest unit that needs no fraction.
std::string BytesOf(int64_t bytes) {
  constexpr std::array kUnits = {"", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return absl::StrCat(bytes, kUnits.at(unit));
}

std::optional<int64_t> CountOf(const std::string& text) {
  const std::optional<int64_t> count = WholeOf(text);
  return count.has_value() && 0 < *count && *count <= kMostCount ? count : std::nullopt;
}

}  // namespace

std::optional<int64_t> SlurmBytes(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  const auto is_unit = [&](char letter) { return kUnits.find(letter) != std::string_view::npos; };
  std::string number = absl::AsciiStrToUpper(text);
  if (number.size() > 2 && number.back() == 'B' && is_unit(number.end()[-2])) number.pop_back();
  std::size_t unit = kUnits.find('M');
  if (!number.empty() && is_unit(number.back())) {
    unit = kUnits.find(number.back());
    number.pop_back();
  }
  const int64_t bytes_of_unit = int64_t{1024} << (10 * unit);
  const std::optional<int64_t> count = WholeOf(number);
  const bool is_amount = count.has_value() && 0 <= *count && *count <= kMostBytes / bytes_of_unit;
  return is_amount ? std::optional(*count * bytes_of_unit) : std::nullopt;
}

bool BatchHost::Take(const std::string& option, const std::string& value, const std::string& text,
                     int line) {
  const bool is_cpus = option == "cpus-per-task" || option == "cpus-per-gpu";
  const bool is_memory = option == "mem" || option == "mem-per-gpu" || option == "mem-per-cpu";
  if (is_cpus) cpus_ = {option, value, text, line};
  if (is_memory) memory_ = {option, value, text, line};
  return is_cpus || is_memory;
}

void BatchHost::SetCounts(int64_t tasks, int64_t gpus) {
  tasks_ = tasks;
  gpus_ = gpus;
}

std::optional<int64_t> BatchHost::CpusOnNode(JobDraft& draft) const {
  if (cpus_.option.empty()) return std::nullopt;
  const std::optional<int64_t> count = CountOf(cpus_.value);
  const bool per_gpu = cpus_.option == "cpus-per-gpu";
  if (!count.has_value() || (per_gpu && gpus_ == 0)) {
    draft.Note(cpus_.line,
               absl::StrCat(cpus_.text,
                            count.has_value() ? ": the script requests no number of GPUs"
                                              : ": is not a number of CPUs",
                            "; set ", kCpus));
    return std::nullopt;
  }
  return *count * (per_gpu ? gpus_ : std::max<int64_t>(tasks_, 1));
}

std::optional<int64_t> BatchHost::BytesOnNode(JobDraft& draft) const {
  if (memory_.option.empty()) return std::nullopt;
  const auto note = [&](const char* reason) {
    draft.Note(memory_.line, absl::StrCat(memory_.text, ": ", reason, "; set ", kMemory));
    return std::nullopt;
  };
  const std::optional<int64_t> bytes = SlurmBytes(memory_.value);
  if (!bytes.has_value()) return note("is not an amount of memory");
  if (*bytes == 0) return note("a job cannot request all memory of a node");
  if (memory_.option == "mem") return bytes;
  if (memory_.option == "mem-per-gpu") {
    if (gpus_ == 0) return note("the script requests no number of GPUs");
    return *bytes * gpus_;
  }
  // Without an option, SLURM gives each task one CPU.
  const std::optional<int64_t> per_task = CountOf(cpus_.option.empty() ? "1" : cpus_.value);
  const int64_t tasks = cpus_.option == "cpus-per-gpu" ? gpus_ : std::max<int64_t>(tasks_, 1);
  if (!per_task.has_value() || tasks == 0) return note("the number of CPUs is unknown");
  return *bytes * *per_task * tasks;
}

void BatchHost::Finish(JobDraft& draft) const {
  const int64_t ranks =
      std::clamp<int64_t>(draft.Whole("resources.slots_per_node").value_or(1), 1, kMostCount);
  const auto not_shared = [&](const Amount& amount, const char* key) {
    draft.Note(amount.line, absl::StrCat(amount.text, ": cannot be shared equally by ", ranks,
                                         " ranks per node; set ", key));
  };
  if (const auto cpus = CpusOnNode(draft)) {
    const bool is_exact = *cpus % ranks == 0 && *cpus / ranks <= kMostCpus;
    if (is_exact) draft.Set(kCpus, absl::StrCat(*cpus / ranks));
    if (!is_exact) not_shared(cpus_, kCpus);
  }
  if (const auto bytes = BytesOnNode(draft)) {
    const int64_t share = *bytes / ranks;
    const bool is_exact = *bytes % ranks == 0 && kLeastBytes <= share && share <= kMostBytes;
    if (is_exact) draft.Set(kMemory, BytesOf(share));
    if (!is_exact) not_shared(memory_, kMemory);
  }
}

}  // namespace trainyard::cli
