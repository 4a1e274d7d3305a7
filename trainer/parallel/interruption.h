// Ends waits for peers from another thread when the gang reconnects.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace trainyard::trainer {

// Interruption of one generation of a gang's connections. Thread-safe. Must outlive its listeners.
class Interruption {
 public:
  // The destructor removes the function and waits for a running call to return.
  class Listener {
   public:
    Listener(Interruption& interruption, int64_t number)
        : interruption_(interruption), number_(number) {}
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    Interruption& interruption_;
    const int64_t number_;
  };

  // Calls `end` once, immediately if already interrupted. `end` must not call Listen and must not
  // throw.
  std::unique_ptr<Listener> Listen(std::function<void()> end);

  // Calls the first listener, then all others concurrently, each on its own thread, because ending
  // a group takes a while. Returns when all have returned. Further calls do nothing.
  void Interrupt();
  // Returns on interruption or after `limit`.
  void WaitFor(std::chrono::milliseconds limit);

  // Throws TrainerError(kPeerLost) if interrupted.
  void Check() const;
  // Variant of Check for suspicious results. First waits some seconds for the interruption: other
  // ranks may already be reconnecting while the order has not arrived here.
  void CheckAfterWait();

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<int64_t, std::function<void()>> listeners_;
  int64_t next_ = 0;
  std::atomic<bool> has_come_{false};
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_H_
