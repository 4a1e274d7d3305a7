// Ctrl-C for commands that wait: a request to stop waiting, and not the end of the process.
#ifndef TRAINYARD_CLI_INTERRUPT_H_
#define TRAINYARD_CLI_INTERRUPT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace trainyard::cli {

// Thread-safe. Before Listen, SIGINT ends the process as usual.
class Interrupt {
 public:
  Interrupt() = default;
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // From now on SIGINT, SIGTERM and SIGHUP call Raise. At most one object at a time may listen.
  void Listen();

  void Raise();
  bool raised() const { return count() > 0; }
  // Number of Raise calls: a second Ctrl-C means "now".
  int count() const;

  // Waits for `time`; true at once when raised before or meanwhile.
  bool WaitFor(std::chrono::milliseconds time);

  // While it lives, `on_raise` is called once when the interrupt is raised (at once when it
  // already is), from another thread.
  class Scope {
   public:
    Scope(Interrupt& interrupt, std::function<void()> on_raise);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interrupt& interrupt_;
    int id_;
  };

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;                                   // Guarded by mutex_.
  int next_id_ = 0;                                 // Guarded by mutex_.
  std::map<int, std::function<void()>> callbacks_;  // Guarded by mutex_; called under it.
  std::thread listener_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_INTERRUPT_H_
