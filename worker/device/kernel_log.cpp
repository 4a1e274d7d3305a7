#include "worker/device/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "proto/contract/xid.h"
#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kErrorsKept = 8;
constexpr std::size_t kMessageBytes = 256;
// The size of the largest record that the kernel returns (CONSOLE_EXT_LOG_MAX).
constexpr std::size_t kRecordBytes = 8192;
// The number of records read per call. The next call reads any further records.
constexpr int kRecordsAtOnce = 1000;

}  // namespace

KernelLog::KernelLog(const std::string& path)
    : file_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (readable()) lseek(file_.get(), 0, SEEK_END);
}

void KernelLog::Take(std::string_view text, Timestamp now) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto parsed = ParseXidLine(line);
    if (!parsed.has_value()) continue;
    v1::DeviceError& error = errors_.emplace_back();
    error.set_time_ms(now);
    error.set_xid(parsed->number);
    error.set_device(std::string(Utf8Prefix(parsed->device, kMessageBytes)));
    error.set_message(std::string(Utf8Prefix(line, kMessageBytes)));
    if (errors_.size() > kErrorsKept) errors_.pop_front();
  }
}

std::vector<v1::DeviceError> KernelLog::Read(Timestamp now) {
  std::array<char, kRecordBytes> record;
  for (int i = 0; i < kRecordsAtOnce && readable(); ++i) {
    const ssize_t bytes = read(file_.get(), record.data(), record.size());
    if (bytes > 0) {
      Take({record.data(), static_cast<std::size_t>(bytes)}, now);
      continue;
    }
    // EPIPE: the kernel overwrote some records before they were read. The next read returns the
    // oldest remaining record.
    if (bytes < 0 && (errno == EPIPE || errno == EINTR)) continue;
    break;
  }
  return {errors_.begin(), errors_.end()};
}

}  // namespace trainyard::worker
