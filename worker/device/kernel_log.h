// Finds device errors in the kernel log.
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

// Reads, without blocking, the messages that the kernel logs after the object was created. Used by
// one thread. If the worker's user may not read the log (kernel.dmesg_restrict without CAP_SYSLOG),
// no errors are found.
class KernelLog {
 public:
  // `path` is a file that returns one record per read, as /dev/kmsg does.
  explicit KernelLog(const std::string& path = "/dev/kmsg");

  bool readable() const { return file_.valid(); }

  // Reads the log and returns the newest 8 device errors found so far, oldest first. Errors that
  // this call finds get the time `now`.
  std::vector<v1::DeviceError> Read(Timestamp now);

 private:
  void Take(std::string_view text, Timestamp now);

  UniqueFd file_;
  std::deque<v1::DeviceError> errors_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_KERNEL_LOG_H_
