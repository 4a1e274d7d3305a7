// The worker's data directory: one owner, one node id.
#ifndef TRAINYARD_WORKER_SPOOL_DATA_DIR_H_
#define TRAINYARD_WORKER_SPOOL_DATA_DIR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/contract/unique_fd.h"

namespace trainyard::worker {

// Removes the files of former nodes that lie in the data directory (former, former.2 and so on): no
// controller takes them any more. Returns their number. Any thread.
int RemoveFormerNodes(const std::string& data_dir);

// Held open for the life of the worker; the kernel releases the lock when the process ends.
class DataDir {
 public:
  // Makes the directory (0700) where missing and reads the node id. ALREADY_EXISTS when another
  // worker holds the directory (the message names its pid); other errors name the path and the
  // cause. An id that is damaged, or has lost its secret, is nobody's any more: node_id() is empty.
  static absl::StatusOr<std::unique_ptr<DataDir>> Open(const std::string& path);
  // Makes the node id and the secret where missing. The attempts and facts of an identity that is
  // lost are moved away before, for they are another node's. Errors as above.
  absl::Status MakeIdentity();
  // One line for the operator when the identity was lost; complete after MakeIdentity. Else empty.
  const std::string& lost_identity() const { return lost_identity_; }

  // Absolute.
  const std::string& path() const { return path_; }
  // 32 hexadecimal digits, made once; empty before that.
  const std::string& node_id() const { return node_id_; }
  // Proof of the node id, 64 hexadecimal digits in a file of mode 0600, made once.
  const std::string& node_secret() const { return node_secret_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  DataDir() = default;
  absl::Status ReadIdentity();
  absl::Status SetAsideFormerNode();

  std::string path_;
  std::string lost_identity_;
  std::string node_id_;
  std::string node_secret_;
  UniqueFd lock_;
};

// Makes a directory and its parents, 0700. OK when it exists already.
absl::Status MakeDirectories(const std::string& path);

// The same for its group, too, as far as the umask lets it: checkpoints are removed by the
// controller, which may be another user of the group.
absl::Status MakeGroupDirectories(const std::string& path);

// 32 hexadecimal digits from the kernel's random source.
std::string RandomId();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_DATA_DIR_H_
