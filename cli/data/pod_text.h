// Perl's Plain Old Documentation (perlpod) to plain text, by the program pod2text.
#ifndef TRAINYARD_CLI_DATA_POD_TEXT_H_
#define TRAINYARD_CLI_DATA_POD_TEXT_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// The text of a .pod file in UTF-8, as pod2text writes it, each paragraph on one line. A file
// without POD has no text. FAILED_PRECONDITION, with the package to install, when there is no
// pod2text; DATA_LOSS when it cannot read the file. Thread-safe.
absl::StatusOr<std::string> PodToText(const std::string& path);

// Keeps the texts of files that are read more than once: starting Perl takes longer than reading
// most files. Thread-safe.
class PodTexts {
 public:
  // The text of PodToText.
  absl::StatusOr<std::string> Text(const std::string& path);

 private:
  // The manuals of Perl have 8 MiB of text. Files beyond this are converted again.
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

  std::mutex mutex_;
  // Guarded by mutex_, by path.
  std::map<std::string, std::string> texts_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_POD_TEXT_H_
