// Handles Ctrl-C in commands that wait. Ctrl-C ends the wait instead of the process.
#ifndef TRAINYARD_CLI_PROCESS_INTERRUPT_H_
#define TRAINYARD_CLI_PROCESS_INTERRUPT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace trainyard::cli {

// Thread-safe. Before Listen is called, SIGINT ends the process.
class Interrupt {
 public:
  Interrupt() = default;
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // From now on, SIGINT, SIGTERM and SIGHUP call Raise. At most one object at a time may listen.
  void Listen();

  void Raise();
  bool raised() const { return count() > 0; }
  // The number of Raise calls. A second Ctrl-C means "stop immediately".
  int count() const;

  // Waits until Raise is called, for at most `time`. Returns true if Raise was called, even before
  // this call.
  bool WaitFor(std::chrono::milliseconds time);

  // While a Scope exists, the first Raise calls `on_raise` once, from another thread. If Raise was
  // called earlier, the constructor calls `on_raise`.
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
  std::map<int, std::function<void()>> callbacks_;  // Guarded by mutex_; called with it held.
  std::thread listener_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_INTERRUPT_H_
