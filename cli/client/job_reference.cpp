#include "cli/client/job_reference.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

constexpr char kLast[] = "@last";

bool IsNumberOrName(const std::string& text) {
  if (text.empty() || text.size() > kMaxJobNameBytes || !absl::ascii_isalnum(text.front())) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '.' || c == '_' || c == '-';
  });
}

absl::Status NotAJob(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("`", text, "` does not name a job",
                   "\na job is a number (17), a name (llama3-8b), NAME@ATTEMPT or @last;"
                   " `trainyard ps -a` lists them"));
}

}  // namespace

absl::StatusOr<JobReference> ParseJobReference(const std::string& text) {
  JobReference reference{text};
  const std::size_t at = text.rfind('@');
  if (at != std::string::npos && at > 0) {
    const std::string attempt = text.substr(at + 1);
    if (!absl::SimpleAtoi(attempt, &reference.attempt) || reference.attempt < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", text, "`: `@` must be followed by an attempt number of at least 1"));
    }
    reference.job = text.substr(0, at);
  }
  if (reference.job != kLast && !IsNumberOrName(reference.job)) return NotAJob(text);
  return reference;
}

absl::StatusOr<std::string> ParseWholeJob(const std::string& text) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(text));
  if (reference.attempt != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`", text, "` names one attempt, but this command applies to the whole job: use `",
        reference.job, "`"));
  }
  return reference.job;
}

}  // namespace trainyard::cli
