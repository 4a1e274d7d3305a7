// A Perl process that converts POD to text, one file after the other.
#ifndef TRAINYARD_DATA_DOCUMENTS_POD_PROCESS_H_
#define TRAINYARD_DATA_DOCUMENTS_POD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Starting Perl and loading its module takes longer than converting most files, so one process
// converts many. Must be used by one thread at a time.
class PodProcess {
 public:
  // `path` is the first file to convert, for errors. Returns FAILED_PRECONDITION, with the name of
  // the package to install, if Perl cannot be started.
  static absl::StatusOr<std::unique_ptr<PodProcess>> Start(const std::string& path);
  // Ends the process.
  ~PodProcess();
  PodProcess(const PodProcess&) = delete;
  PodProcess& operator=(const PodProcess&) = delete;

  // Returns the text of a file; "" if the file contains no POD. Returns DATA_LOSS if the process
  // ends or reports an error. Then it must not be used again.
  absl::StatusOr<std::string> Convert(const std::string& path, std::string_view pod);

 private:
  PodProcess(UniqueFd socket, pid_t process) : socket_(std::move(socket)), process_(process) {}

  bool Send(std::string_view bytes) const;
  bool Receive(char* into, std::size_t bytes) const;

  UniqueFd socket_;
  const pid_t process_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_POD_PROCESS_H_
