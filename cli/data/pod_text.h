// Converts Perl's Plain Old Documentation (perlpod) to plain text, with the program pod2text.
#ifndef TRAINYARD_CLI_DATA_POD_TEXT_H_
#define TRAINYARD_CLI_DATA_POD_TEXT_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// Returns the text of a .pod file in UTF-8, as written by pod2text, with each paragraph on one
// line. Returns an empty text for a file without POD. Returns FAILED_PRECONDITION, naming the
// package to install, if pod2text is missing, and DATA_LOSS if it cannot read the file.
// Thread-safe.
absl::StatusOr<std::string> PodToText(const std::string& path);

// Caches the texts of files that are read more than once, because starting Perl takes longer than
// reading most files. Thread-safe.
class PodTexts {
 public:
  // Same as PodToText.
  absl::StatusOr<std::string> Text(const std::string& path);

 private:
  // Maximum bytes in the cache. Perl's manuals have 8 MiB of text. Files beyond the limit are
  // converted at each call.
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

  std::mutex mutex_;
  // By path. Guarded by mutex_.
  std::map<std::string, std::string> texts_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_POD_TEXT_H_
