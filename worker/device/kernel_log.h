// Device errors in the kernel log.
#ifndef TRAINYARD_WORKER_DEVICE_KERNEL_LOG_H_
#define TRAINYARD_WORKER_DEVICE_KERNEL_LOG_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "proto/files/unique_fd.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::worker {

// Reads messages that the kernel logs from now on, without blocking. Used by one thread. If this
// user may not read the log (kernel.dmesg_restrict without CAP_SYSLOG), no errors are found.
class KernelLog {
 public:
  // `path`: /dev/kmsg, which returns one record per read.
  explicit KernelLog(const std::string& path = "/dev/kmsg");

  bool readable() const { return file_.valid(); }

  // The newest 8 device errors found so far, oldest first. `now` becomes the time of errors found
  // by this call.
  std::vector<v1::DeviceError> Read(Timestamp now);

 private:
  void Take(std::string_view text, Timestamp now);

  UniqueFd file_;
  std::deque<v1::DeviceError> errors_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_KERNEL_LOG_H_
