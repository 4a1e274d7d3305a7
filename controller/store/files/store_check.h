// Checks one database from its first page to its last.
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
// use: a page being written is read again. The pages of a file without checksums are not read. One
// thread.
class PageScrub {
 public:
  explicit PageScrub(std::string path) : path_(std::move(path)) {}

  // Checks the next pages, at most `bytes` in total. Returns true at the end of the file; the next
  // call then starts over. Fails if the file cannot be read.
  absl::StatusOr<bool> Step(int64_t bytes);

  // Completed part of the current pass, 0 to 1.
  double part() const;
  // Offsets of the damaged pages found in the current pass; only the first few.
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

// Reads every page, runs SQLite's check of its trees, and reads the cluster id. Never fails: errors
// are reported as problems.
StoreCheckResult CheckDatabase(const std::string& path);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_STORE_CHECK_H_
