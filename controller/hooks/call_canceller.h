// Cancels a hook's calls from another thread.
#ifndef TRAINYARD_CONTROLLER_HOOKS_CALL_CANCELLER_H_
#define TRAINYARD_CONTROLLER_HOOKS_CALL_CANCELLER_H_

#include <mutex>

namespace boost::asio {
class io_context;
}

namespace trainyard::controller {

// Cancels the running call of a hook, and makes all later calls end immediately. Thread-safe.
class CallCanceller {
 public:
  void Cancel();

  // Call at the start of a hook call, and call Leave at its end. Returns false if calls are
  // canceled. `io` must exist until Leave is called.
  bool Enter(boost::asio::io_context* io);
  void Leave();
  bool cancelled() const;

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  boost::asio::io_context* io_ = nullptr;  // Guarded by mutex_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_CALL_CANCELLER_H_
