#include "worker/spool/log_mark_file.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {

// The file has one line: cluster id, term, sequence, job id.
v1::LogMark LogMarkFile::Read(const std::string& cluster_id) const {
  const absl::StatusOr<std::string> text = ReadSmallFile(path_);
  if (!text.ok()) return {};
  const std::vector<std::string> words = absl::StrSplit(absl::StripAsciiWhitespace(*text), ' ');
  if (words.size() != 4 || words[0] != cluster_id) return {};
  uint64_t term = 0;
  uint64_t sequence = 0;
  int64_t job_id = 0;
  const bool is_sound = absl::SimpleAtoi(words[1], &term) &&
                        absl::SimpleAtoi(words[2], &sequence) &&
                        absl::SimpleAtoi(words[3], &job_id) && job_id >= 0;
  if (!is_sound) return {};
  v1::LogMark mark;
  mark.set_term(term);
  mark.set_sequence(sequence);
  mark.set_job_id(job_id);
  return mark;
}

absl::Status LogMarkFile::Keep(const v1::LogMark& mark, const std::string& cluster_id) const {
  return WriteFileAtomically(path_, absl::StrCat(cluster_id, " ", mark.term(), " ", mark.sequence(),
                                                 " ", mark.job_id(), "\n"));
}

}  // namespace trainyard::worker
