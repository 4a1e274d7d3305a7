// Connects the ranks of an attempt through a key-value store that rank 0 serves at
// MASTER_ADDR:MASTER_PORT.
#ifndef TRAINYARD_TRAINER_PARALLEL_RENDEZVOUS_H_
#define TRAINYARD_TRAINER_PARALLEL_RENDEZVOUS_H_

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "trainer/config/runtime_environment.h"
#include "trainer/parallel/interruption/interruption.h"

namespace c10d {
class Store;
}

namespace trainyard::trainer {

class Rendezvous {
 public:
  // Waits until every rank has connected. Throws TrainerError: kTryAgain if rank 0 cannot bind the
  // port, kPeerLost if a rank does not connect in time. `interruption` ends every wait of this
  // object and all operations of the groups that are connected through it. `interruption` may be
  // null; otherwise it must outlive this object and these groups.
  Rendezvous(const RuntimeEnvironment& env, std::chrono::seconds timeout,
             Interruption* interruption = nullptr);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  // Returns a store whose keys are separate from the keys of other groups.
  c10::intrusive_ptr<c10d::Store> StoreOf(const std::string& group) const;

  // This host's numeric address on the route to rank 0.
  const std::string& local_address() const { return local_address_; }

  std::chrono::seconds timeout() const { return timeout_; }
  Interruption* interruption() const { return interruption_; }

 private:
  const std::chrono::seconds timeout_;
  Interruption* const interruption_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::string local_address_;
};

// Returns the address from which this host reaches host:port; "127.0.0.1" if there is no route.
std::string LocalAddressTowards(const std::string& host, int64_t port);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_RENDEZVOUS_H_
