// Ends waits for peers from another thread: the gang connects anew.
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

// Of one generation of a gang's connections. For any thread. Must outlive its listeners.
class Interruption {
 public:
  // Does not listen any more once it is destroyed: the function is not running by then.
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

  // Calls `end` once, at once where the interruption has come already. `end` must not listen and
  // must not throw.
  std::unique_ptr<Listener> Listen(std::function<void()> end);

  // Calls the one that listened first, then the others, each on a thread of its own, and returns
  // when they have returned: groups take a while to end. A second call does nothing.
  void Interrupt();
  // Returns once it has come, or after `limit`.
  void WaitFor(std::chrono::milliseconds limit);
  bool has_come() const { return has_come_; }

  // Throws TrainerError(kPeerLost) once the interruption has come.
  void Check() const;
  // The same for numbers that look wrong: they may be those of a gang of which other ranks connect
  // anew already, and whose order has not come here yet. Waits for it for some seconds.
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
