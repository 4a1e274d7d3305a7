#include "cli/convert/batch_array.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/matrix/matrix.h"
#include "re2/re2.h"

namespace trainyard::cli {
namespace {

constexpr char kIndexKey[] = "matrix.env.TRAINYARD_ARRAY_INDEX";

// Adds the numbers of one part, such as "5-7" or "0-15:4". Returns false if it is not understood,
// or if there are more numbers than a list may have.
bool AddNumbers(const std::string& part, std::vector<std::string>& numbers) {
  static const RE2 kPart("([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?");
  int64_t from = 0;
  std::string last;
  std::string stride;
  if (!RE2::FullMatch(part, kPart, &from, &last, &stride)) return false;
  const int64_t to = last.empty() ? from : std::stoll(last);
  const int64_t step = stride.empty() ? 1 : std::stoll(stride);
  if (step < 1 || to < from) return false;
  for (int64_t number = from; number <= to; number += step) {
    if (numbers.size() == kMaxListedValues) return false;
    numbers.push_back(absl::StrCat(number));
  }
  return true;
}

// Returns the range of a value that is only one, such as "0-99" or "0-15:4"; else an empty text.
std::string RangeOf(const std::string& value) {
  static const RE2 kRange("([0-9]{1,9})-([0-9]{1,9})(?::([1-9][0-9]{0,8}))?");
  int64_t from = 0;
  int64_t to = 0;
  std::string step;
  if (!RE2::FullMatch(value, kRange, &from, &to, &step) || to < from) return "";
  return absl::StrCat(from, "..", to, step.empty() ? "" : absl::StrCat(":", step));
}

// Returns true if the numbers were set.
bool SetNumbers(const std::string& value, JobDraft& draft) {
  if (const std::string range = RangeOf(value); !range.empty()) {
    draft.Set(kIndexKey, range);
    return true;
  }
  std::vector<std::string> numbers;
  for (const absl::string_view part : absl::StrSplit(value, ',')) {
    if (!AddNumbers(std::string(part), numbers)) return false;
  }
  draft.SetList(kIndexKey, numbers);
  return true;
}

}  // namespace

void TakeBatchArray(const std::string& value, int line, JobDraft& draft) {
  const std::string option = absl::StrCat("#SBATCH --array=", value);
  const std::pair<std::string, std::string> parts = absl::StrSplit(value, absl::MaxSplits('%', 1));
  if (!SetNumbers(parts.first, draft)) {
    return draft.Note(line, absl::StrCat(option, ": not understood; set `matrix`"));
  }
  draft.Set("max_concurrent", parts.second);
  draft.Note(line, absl::StrCat(option,
                                ": the number of an element is in TRAINYARD_ARRAY_INDEX, "
                                "not in SLURM_ARRAY_TASK_ID; change the program"));
}

}  // namespace trainyard::cli
