#include "cli/convert/batch_dependency.h"

#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace trainyard::cli {
namespace {

// The limit of `after` in a job file.
constexpr std::size_t kMaxEntries = 32;

// Returns the condition of `after` that replaces a condition of Slurm, including the colon. Returns
// nullopt if there is none.
std::optional<std::string> ConditionFor(const std::string& word) {
  if (word == "afterok") return "";
  if (word == "afternotok") return ":failure";
  if (word == "afterany") return ":end";
  return std::nullopt;
}

// True if the text can be the name of a job. Names that consist of digits are numbers.
bool IsJobName(const std::string& text) {
  constexpr std::size_t kMaxNameBytes = 63;
  bool has_letter = false;
  for (const char c : text) {
    const bool is_letter = absl::ascii_islower(c);
    const bool is_mark = c == '.' || c == '_' || c == '-';
    if (!is_letter && !is_mark && !absl::ascii_isdigit(c)) return false;
    has_letter |= is_letter || is_mark;
  }
  return has_letter && text.size() <= kMaxNameBytes && absl::ascii_isalnum(text.front()) &&
         absl::ascii_isalnum(text.back());
}

class DependencyReader {
 public:
  DependencyReader(int line, JobDraft& draft) : line_(line), draft_(draft) {}

  // Reads one condition with its jobs, such as "afterok:prep:tokens".
  void TakePart(const std::string& part) {
    if (part == "singleton") {
      return Note(part, "not needed; a job is refused while another job of its name is live");
    }
    const std::vector<std::string> words = absl::StrSplit(part, ':');
    const std::optional<std::string> condition = ConditionFor(words.front());
    if (!condition.has_value() || words.size() == 1) {
      return Note(part,
                  "not supported; `after` of a job file has the conditions success, failure, end "
                  "and checkpoint");
    }
    for (std::size_t i = 1; i < words.size(); ++i) TakeJob(part, words[i], *condition);
    if (*condition == ":failure") {
      Note(part, "in Slurm, a canceled job counts too; in Trainyard, a stopped job has not failed");
    }
  }

  void Finish() const {
    if (!entries_.empty()) draft_.SetList("after", entries_);
  }

 private:
  void TakeJob(const std::string& part, const std::string& job, const std::string& condition) {
    if (!IsJobName(job)) {
      return Note(part,
                  absl::StrCat("`", job, "` names a job of Slurm; pass `--after JOB", condition,
                               "` to `trainyard submit`, with the number or the name of a ",
                               "Trainyard job"));
    }
    if (entries_.size() == kMaxEntries) {
      return Note(part, absl::StrCat("`", job, "` is left out; `after` has at most ", kMaxEntries,
                                     " entries"));
    }
    entries_.push_back(absl::StrCat(job, condition));
  }

  void Note(const std::string& part, const std::string& text) {
    draft_.Note(line_, absl::StrCat("#SBATCH --dependency=", part, ": ", text));
  }

  const int line_;
  JobDraft& draft_;
  std::vector<std::string> entries_;
};

}  // namespace

void TakeBatchDependency(const std::string& value, int line, JobDraft& draft) {
  if (value.find('?') != std::string::npos) {
    return draft.Note(line, absl::StrCat("#SBATCH --dependency=", value,
                                         ": a job cannot wait for one of several conditions; it ",
                                         "starts when all entries of `after` are met"));
  }
  DependencyReader reader(line, draft);
  for (const absl::string_view part : absl::StrSplit(value, ',')) {
    reader.TakePart(std::string(part));
  }
  reader.Finish();
}

}  // namespace trainyard::cli
