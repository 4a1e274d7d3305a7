// Groups whose members are threads of one process.
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

// The groups of one run, by name. May be used by any thread; must outlive the communicators.
//
// Stricter than a GPU: outputs are NaN until some thread has waited for their Work; operations of a
// member run strictly one after the other; and a wait longer than the limit fails with kPeerLost
// and the name of the group. A wrong order of operations therefore fails instead of hanging. Sums
// are computed in rank order.
class InMemoryNetwork {
 public:
  // Held by members of any group while they run and released while they wait: for devices that
  // support one thread at a time.
  using Turn = std::mutex;

  // turn: shared by members that take turns, or null.
  explicit InMemoryNetwork(Turn* turn = nullptr,
                           std::chrono::seconds limit = std::chrono::seconds(60))
      : turn_(turn), limit_(limit) {}
  ~InMemoryNetwork();

  std::unique_ptr<Communicator> Connect(const CommunicatorGroup& group);

  // Fails all operations of all groups, because a member has ended with an error.
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
