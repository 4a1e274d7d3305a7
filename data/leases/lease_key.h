// The secret of a run, with which its processes prove their identity to each other.
#ifndef TRAINYARD_DATA_LEASES_LEASE_KEY_H_
#define TRAINYARD_DATA_LEASES_LEASE_KEY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::data {

// A file with a random secret, on the shared storage of a run. Only the user of the run can read
// it. A process that can read the file can also change the output of the run.
class LeaseKey {
 public:
  // Creates a key, and removes the keys of killed processes. No other process may use the
  // directory for its keys.
  static absl::StatusOr<std::unique_ptr<LeaseKey>> Create(const std::string& directory);
  // Removes the file.
  ~LeaseKey();
  LeaseKey(const LeaseKey&) = delete;

  // Each key has a new random name, so that a network file system cannot return an older file.
  const std::string& name() const { return name_; }
  const std::string& secret() const { return secret_; }

 private:
  LeaseKey(std::string path, std::string name, std::string secret);

  const std::string path_;
  const std::string name_;
  const std::string secret_;
};

// Returns the secret of the key with this name. Returns FailedPrecondition if there is none.
absl::StatusOr<std::string> ReadLeaseKey(const std::string& directory, const std::string& name);

// The values that both proofs contain.
struct Greeting {
  std::string group;
  int rank = 0;
  std::string client_nonce;
  std::string server_nonce;
};

// The proof of rank 0, and the proof of another rank, that the process knows the secret. A proof is
// an HMAC. It contains a nonce of the other process, so that it cannot be used again.
std::string ServerProof(const std::string& secret, const Greeting& greeting);
std::string ClientProof(const std::string& secret, const Greeting& greeting);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_LEASES_LEASE_KEY_H_
