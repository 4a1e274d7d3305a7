// A key-value store whose waits can be interrupted.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTIBLE_STORE_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTIBLE_STORE_H_

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/parallel/interruption/interruption.h"

namespace trainyard::trainer {

// Waits by polling, because the waits of LibTorch's store cannot be interrupted. Moreover, after a
// timeout, LibTorch's store mistakes the late reply for the reply to the store's next request.
class InterruptibleStore final : public c10d::PrefixStore {
 public:
  // `interruption` must outlive this store. `limit` is the maximum duration of each wait.
  InterruptibleStore(const std::string& prefix, c10::intrusive_ptr<c10d::Store> store,
                     const Interruption& interruption, std::chrono::milliseconds limit);

  // get and wait throw TrainerError(kPeerLost) on interruption or after the limit.
  std::vector<uint8_t> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& limit) override;

 private:
  const Interruption& interruption_;
  const std::chrono::milliseconds limit_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTIBLE_STORE_H_
