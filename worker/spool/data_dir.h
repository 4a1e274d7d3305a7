// The worker's data directory. It belongs to one worker at a time and to one node id.
#ifndef TRAINYARD_WORKER_SPOOL_DATA_DIR_H_
#define TRAINYARD_WORKER_SPOOL_DATA_DIR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard::worker {

// Removes the files of former nodes (former, former.2 and so on) from the data directory, because
// no controller accepts these nodes any longer. Returns the number of removed directories. May be
// called on any thread.
int RemoveFormerNodes(const std::string& data_dir);

// Keeps the data directory locked. The worker keeps this object until it exits; the kernel releases
// the lock when the process ends.
class DataDir {
 public:
  // Creates the directory (0700) if it is missing, and reads the node id. ALREADY_EXISTS if another
  // worker uses the directory; the message contains its pid. Other errors name the path and the
  // cause. If the id is damaged or its secret is lost, the id is no longer valid and node_id() is
  // empty.
  static absl::StatusOr<std::unique_ptr<DataDir>> Open(const std::string& path);
  // Creates the node id and the secret if they are missing. Attempts and facts of a lost identity
  // are moved away first, because these belong to another node. Errors: see Open.
  absl::Status MakeIdentity();
  // One line for the operator if the identity was lost; otherwise empty. Complete after
  // MakeIdentity.
  const std::string& lost_identity() const { return lost_identity_; }

  // Absolute path.
  const std::string& path() const { return path_; }
  // The node id: 32 hexadecimal digits, created once. Empty until the id is created.
  const std::string& node_id() const { return node_id_; }
  // The secret that proves the node id: 64 hexadecimal digits, created once, in a file of mode
  // 0600.
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

// Like MakeDirectories, but the group gets access as far as the umask permits. The controller needs
// this access to remove checkpoints, because it may run as another user of the group.
// INVALID_ARGUMENT on the kernel's own file systems.
absl::Status MakeGroupDirectories(const std::string& path);

// Returns 32 hexadecimal digits from the kernel's random source.
std::string RandomId();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_DATA_DIR_H_
