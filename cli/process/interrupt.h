// Ctrl-C for commands that wait: a request to stop waiting, not the end of the process.
#ifndef TRAINYARD_CLI_PROCESS_INTERRUPT_H_
#define TRAINYARD_CLI_PROCESS_INTERRUPT_H_

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

  // From now on SIGINT, SIGTERM and SIGHUP call Raise. Only one object at a time may listen.
  void Listen();

  void Raise();
  bool raised() const { return count() > 0; }
  // Number of Raise calls. A second Ctrl-C means "stop immediately".
  int count() const;

  // Waits for `time`. Returns true as soon as the interrupt is raised, at once if it already was.
  bool WaitFor(std::chrono::milliseconds time);

  // While a Scope exists, raising the interrupt calls `on_raise` once, from another thread. Calls
  // it at once if the interrupt was already raised.
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

#endif  // TRAINYARD_CLI_PROCESS_INTERRUPT_H_
