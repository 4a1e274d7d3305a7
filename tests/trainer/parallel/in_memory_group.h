// Implements groups whose members are threads of one process.
#ifndef TRAINYARD_TESTS_TRAINER_PARALLEL_IN_MEMORY_GROUP_H_
#define TRAINYARD_TESTS_TRAINER_PARALLEL_IN_MEMORY_GROUP_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

class InMemoryGroup;

// The groups of one run, by name. Thread-safe. The network must outlive the communicators.
//
// The network is stricter than a GPU, so that tests find errors. Outputs are NaN until some thread
// has waited for their Work. The operations of a member run strictly one after another. Members
// that start operations in a wrong order do not hang: a wait longer than the limit fails with
// kPeerLost and the name of the group. Sums are computed in rank order.
class InMemoryNetwork {
 public:
  // A lock for devices that support only one thread at a time. A member of any group owns the lock
  // while it runs and releases it while it waits.
  using Turn = std::mutex;

  // `turn` is shared by all members that take turns; nullptr if members run at the same time.
  explicit InMemoryNetwork(Turn* turn = nullptr,
                           std::chrono::seconds limit = std::chrono::seconds(60))
      : turn_(turn), limit_(limit) {}
  ~InMemoryNetwork();

  std::unique_ptr<Communicator> Connect(const CommunicatorGroup& group);

  // Fails all operations of all groups. Called when a member has ended with an error.
  void AbortAll();

 private:
  Turn* const turn_;
  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<InMemoryGroup>> groups_;
  bool aborted_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_PARALLEL_IN_MEMORY_GROUP_H_
