// Converts Perl's Plain Old Documentation (perlpod) to plain text, with Perl's own module.
#ifndef TRAINYARD_DATA_DOCUMENTS_POD_TEXT_H_
#define TRAINYARD_DATA_DOCUMENTS_POD_TEXT_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "data/documents/pod_process.h"

namespace trainyard::data {

// Converts .pod files, and caches their texts, because they are read more than once. Thread-safe.
class PodTexts {
 public:
  // Returns the text of a .pod file with the contents `pod`: UTF-8 with each paragraph on one line,
  // as pod2text writes it. The text is empty if the file contains no POD. Returns
  // FAILED_PRECONDITION, with the name of the package to install, if Perl is missing. Returns
  // DATA_LOSS if Perl fails. `path` is the key of the cache, and for errors.
  absl::StatusOr<std::string> Text(const std::string& path, std::string_view pod);

 private:
  // Maximum bytes in the cache. Perl's manuals are 8 MiB of text. Files that do not fit are
  // converted again at each call.
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

  absl::StatusOr<std::string> Convert(const std::string& path, std::string_view pod);

  std::mutex mutex_;
  // Keyed by path. Guarded by mutex_, as all members below.
  std::map<std::string, std::string> texts_;
  std::size_t kept_bytes_ = 0;
  // Processes that no thread uses. There are at most as many as threads that convert at one time.
  std::vector<std::unique_ptr<PodProcess>> idle_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_POD_TEXT_H_
