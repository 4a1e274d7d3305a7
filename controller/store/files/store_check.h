// Checks all pages of one database.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_STORE_CHECK_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_STORE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard::controller {

// Reads the pages of a database file in order and verifies their checksums. The database may be in
// use: if a checksum is wrong, the page is read again, because another process may just have been
// writing it. If the database has no checksums, no pages are read. Not thread-safe.
class PageScrub {
 public:
  explicit PageScrub(std::string path) : path_(std::move(path)) {}

  // Checks the next pages, at most `bytes` bytes in total. Returns true at the end of the file; the
  // next call then starts again at the first page. Returns an error if the file cannot be read.
  absl::StatusOr<bool> Step(int64_t bytes);

  // The completed share of the current pass, 0 to 1.
  double part() const;
  // The offsets of the first few damaged pages found in the current pass.
  const std::vector<int64_t>& damaged() const { return damaged_; }
  int64_t damaged_pages() const { return damaged_pages_; }

 private:
  absl::Status Open();

  const std::string path_;
  UniqueFd file_;
  int64_t position_ = 0;
  int64_t size_ = 0;
  int page_bytes_ = 0;
  bool has_checksums_ = false;
  std::vector<int64_t> damaged_;
  int64_t damaged_pages_ = 0;
};

struct StoreCheckResult {
  int64_t bytes = 0;
  std::string cluster_id;
  std::vector<std::string> problems;
};

// Reads every page, runs SQLite's check of its trees, and reads the cluster id. An error does not
// end the check; it is added to the problems in the result.
StoreCheckResult CheckDatabase(const std::string& path);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_STORE_CHECK_H_
