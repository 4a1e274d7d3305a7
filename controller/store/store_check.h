// A check of one database from its first page to its last.
#ifndef TRAINYARD_CONTROLLER_STORE_STORE_CHECK_H_
#define TRAINYARD_CONTROLLER_STORE_STORE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/contract/unique_fd.h"

namespace trainyard::controller {

// Reads the pages of a database file one after the other and compares their checksums, beside
// whoever uses the database: a page that is written at this moment is read again. Pages that were
// made without checksums are only read. One thread.
class PageScrub {
 public:
  explicit PageScrub(std::string path) : path_(std::move(path)) {}

  // Checks the next pages, at most about `bytes` of them. True when that was the end of the file;
  // the next call begins again. Errors: the file cannot be read.
  absl::StatusOr<bool> Step(int64_t bytes);

  // Part of the present pass that is done, 0 to 1.
  double part() const;
  // Bytes at which damaged pages of the present pass begin; the first few.
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

// Reads every page, lets SQLite compare its trees, and reads the cluster id. Never fails: what goes
// wrong is a problem.
StoreCheckResult CheckDatabase(const std::string& path);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_STORE_CHECK_H_
