#include "controller/store/files/store_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "controller/store/files/store_identity.h"
#include "controller/store/sqlite/page_check.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kDamagedKept = 8;
// The number of reads before a page with a wrong checksum counts as damaged. One read is not
// enough, because another process may be writing the page.
constexpr int kReads = 3;
constexpr std::chrono::milliseconds kBetweenReads{20};
constexpr int64_t kWholeFile = int64_t{1} << 62;

bool ReadAt(int file, int64_t offset, std::string& buffer) {
  return pread(file, buffer.data(), buffer.size(), offset) == static_cast<ssize_t>(buffer.size());
}

bool IsSoundAt(int file, int64_t offset, std::string& page) {
  for (int i = 0; i < kReads; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenReads);
    // A short read means that the file was truncated and the page no longer exists.
    if (!ReadAt(file, offset, page) || IsSoundPage(page, offset)) return true;
  }
  return false;
}

// Runs SQLite's own check. Returns the first problem; empty if there is none.
absl::StatusOr<std::string> QuickCheck(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kReader));
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery check, database->Query("PRAGMA quick_check(1)"));
  TRAINYARD_ASSIGN_OR_RETURN(const bool answered, check.Next());
  const std::string answer(answered ? check.Bytes(0) : "");
  return answer == "ok" ? "" : answer;
}

std::string DamageText(const std::string& path, const PageScrub& scrub) {
  return absl::StrCat(path, ": ", scrub.damaged_pages(), " damaged page",
                      scrub.damaged_pages() == 1 ? "" : "s", ", the first at byte ",
                      scrub.damaged().front(),
                      "; restore a backup with `trainyard server restore`");
}

}  // namespace

absl::Status PageScrub::Open() {
  file_ = UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file_.valid() || fstat(file_.get(), &info) != 0) {
    return ErrnoStatus(errno, "cannot read", path_);
  }
  size_ = info.st_size;
  position_ = 0;
  damaged_.clear();
  damaged_pages_ = 0;
  std::string header(kDatabaseHeaderBytes, '\0');
  page_bytes_ = ReadAt(file_.get(), 0, header) ? PageBytesOf(header) : 0;
  has_checksums_ = page_bytes_ != 0 && HasPageChecksums(header);
  return absl::OkStatus();
}

absl::StatusOr<bool> PageScrub::Step(int64_t bytes) {
  if (!file_.valid()) TRAINYARD_RETURN_IF_ERROR(Open());
  const int64_t end = has_checksums_ ? size_ : 0;
  const int64_t until = std::min(end, bytes > end - position_ ? end : position_ + bytes);
  std::string page(static_cast<std::size_t>(std::max(page_bytes_, 1)), '\0');
  for (; position_ + page_bytes_ <= until; position_ += page_bytes_) {
    if (IsSoundAt(file_.get(), position_, page)) continue;
    ++damaged_pages_;
    if (damaged_.size() < kDamagedKept) damaged_.push_back(position_);
  }
  if (position_ + std::max(page_bytes_, 1) <= end) return false;
  file_.Reset();
  return true;
}

double PageScrub::part() const {
  if (!file_.valid() || size_ == 0) return 0;
  return static_cast<double>(position_) / static_cast<double>(size_);
}

StoreCheckResult CheckDatabase(const std::string& path) {
  StoreCheckResult result;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    result.problems.push_back(
        absl::StrCat(path, " is missing; restore a backup with `trainyard server restore`"));
    return result;
  }
  result.bytes = info.st_size;
  PageScrub scrub(path);
  if (const auto read = scrub.Step(kWholeFile); !read.ok()) {
    result.problems.emplace_back(read.status().message());
    return result;
  }
  if (scrub.damaged_pages() > 0) result.problems.push_back(DamageText(path, scrub));
  const absl::StatusOr<std::string> id = ReadStoreIdentity(path);
  if (id.ok()) result.cluster_id = *id;
  if (!result.problems.empty()) return result;
  const absl::StatusOr<std::string> quick = QuickCheck(path);
  if (!quick.ok()) {
    result.problems.emplace_back(quick.status().message());
  } else if (!quick->empty()) {
    result.problems.push_back(
        absl::StrCat(path, ": ", *quick, "; restore a backup with `trainyard server restore`"));
  }
  return result;
}

}  // namespace trainyard::controller
