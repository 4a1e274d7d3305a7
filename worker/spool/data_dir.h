// The worker's data directory: it has one owner and one node id.
#ifndef TRAINYARD_WORKER_SPOOL_DATA_DIR_H_
#define TRAINYARD_WORKER_SPOOL_DATA_DIR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard::worker {

// Removes the files of former nodes in the data directory (former, former.2 and so on): no
// controller accepts them any longer. Returns the number of removed directories. Any thread.
int RemoveFormerNodes(const std::string& data_dir);

// Kept open for the life of the worker; the kernel releases the lock when the process ends.
class DataDir {
 public:
  // Creates the directory (0700) if missing and reads the node id. ALREADY_EXISTS if another worker
  // uses the directory (the message names its pid); other errors name the path and the cause. A
  // damaged id, or one that has lost its secret, is no longer valid: node_id() is empty.
  static absl::StatusOr<std::unique_ptr<DataDir>> Open(const std::string& path);
  // Creates the node id and the secret if missing. The attempts and facts of a lost identity belong
  // to another node, so they are moved away first. Errors as above.
  absl::Status MakeIdentity();
  // One line for the operator if the identity was lost, else empty. Complete after MakeIdentity.
  const std::string& lost_identity() const { return lost_identity_; }

  // Absolute path.
  const std::string& path() const { return path_; }
  // 32 hexadecimal digits, created once; empty before that.
  const std::string& node_id() const { return node_id_; }
  // Proof of the node id: 64 hexadecimal digits in a file of mode 0600, created once.
  const std::string& node_secret() const { return node_secret_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  DataDir() = default;
  absl::Status ReadIdentity();
  absl::Status MoveFormerNode();

  std::string path_;
  std::string lost_identity_;
  std::string node_id_;
  std::string node_secret_;
  UniqueFd lock_;
};

// Creates a directory and its parents (0700). OK if it already exists.
absl::Status MakeDirectories(const std::string& path);

// Like MakeDirectories, but with group access as far as the umask permits: the controller, possibly
// another user of the group, removes checkpoints. INVALID_ARGUMENT on the kernel's own file
// systems.
absl::Status MakeGroupDirectories(const std::string& path);

// 32 hexadecimal digits from the kernel's random source.
std::string RandomId();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_DATA_DIR_H_
