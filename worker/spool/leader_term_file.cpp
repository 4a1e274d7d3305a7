#include "worker/spool/leader_term_file.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/contract/leader_term.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {

// The file has one line: cluster id, term.
int64_t LeaderTermFile::Read(const std::string& cluster_id) const {
  const absl::StatusOr<std::string> text = ReadSmallFile(path_);
  if (!text.ok()) return kFirstTerm;
  const std::vector<std::string> words = absl::StrSplit(absl::StripAsciiWhitespace(*text), ' ');
  int64_t term = 0;
  const bool is_sound =
      words.size() == 2 && words[0] == cluster_id && absl::SimpleAtoi(words[1], &term);
  return is_sound ? TermOfField(term) : kFirstTerm;
}

absl::Status LeaderTermFile::Keep(int64_t term, const std::string& cluster_id) const {
  return WriteFileAtomically(path_, absl::StrCat(cluster_id, " ", term, "\n"));
}

}  // namespace trainyard::worker
