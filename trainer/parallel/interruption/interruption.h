// Interrupts this rank's waits for peers, from another thread, when the gang reconnects.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTION_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTION_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace trainyard::trainer {

// Interrupts the waits of one generation of the gang. Thread-safe. Must outlive its listeners.
class Interruption {
 public:
  // The destructor removes the function. If the function is running, the destructor first waits for
  // it to return.
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

  // Registers `end`, which is called once on interruption. If the interruption has already taken
  // place, calls `end` immediately. `end` must not call Listen and must not throw.
  std::unique_ptr<Listener> Listen(std::function<void()> end);
  // Like Listen, but `begin` is called before all functions of Listen and must return at once.
  std::unique_ptr<Listener> ListenFirst(std::function<void()> begin);

  // Calls the functions of ListenFirst one after another, then those of Listen concurrently, each
  // on its own thread. An abort of a group takes a while, and on a GPU it does not return before
  // the kernels of the other groups have ended. Returns when all functions have returned. A second
  // call does nothing, but returns no earlier than the first.
  void Interrupt();
  // Returns on interruption, or after `limit` at the latest.
  void WaitFor(std::chrono::milliseconds limit);

  // Throws TrainerError(kPeerLost) if interrupted.
  void Check() const;
  // Like Check, but first waits some seconds for the interruption. Call CheckAfterWait after a
  // result that looks wrong: other ranks may have received the order to reconnect earlier than this
  // rank.
  void CheckAfterWait();

 private:
  using Functions = std::map<int64_t, std::function<void()>>;

  std::unique_ptr<Listener> Register(Functions& functions, std::function<void()> function);

  std::mutex mutex_;
  std::condition_variable came_;
  Functions first_;
  Functions others_;
  int64_t next_ = 0;
  std::atomic<bool> has_come_{false};
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTION_H_
