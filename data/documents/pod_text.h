// Converts Perl's Plain Old Documentation (perlpod) to plain text by running the program pod2text.
#ifndef TRAINYARD_DATA_DOCUMENTS_POD_TEXT_H_
#define TRAINYARD_DATA_DOCUMENTS_POD_TEXT_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace trainyard::data {

// Returns pod2text's output for the contents of a .pod file: UTF-8 text with each paragraph on one
// line. The text is empty if the file contains no POD. Returns FAILED_PRECONDITION, with the name
// of the package to install, if pod2text is missing. Returns DATA_LOSS if pod2text fails. `path` is
// for errors. Thread-safe.
absl::StatusOr<std::string> PodToText(const std::string& path, std::string_view pod);

// Caches the texts of .pod files, because they are read more than once and starting Perl takes
// longer than reading most of them. Thread-safe.
class PodTexts {
 public:
  // Same as PodToText.
  absl::StatusOr<std::string> Text(const std::string& path, std::string_view pod);

 private:
  // Maximum bytes in the cache. Perl's manuals are 8 MiB of text. Files that do not fit are
  // converted again at each call.
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

  std::mutex mutex_;
  // Keyed by path. Guarded by mutex_.
  std::map<std::string, std::string> texts_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_POD_TEXT_H_
