// What the controller's own machine sees at the path of the checkpoint root: the directory that the
// nodes are meant to share.
#ifndef TRAINYARD_CONTROLLER_ROOT_READER_H_
#define TRAINYARD_CONTROLLER_ROOT_READER_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace trainyard::controller {

// Nonce in the directory, which gets one when it has none; empty when there is no such directory on
// this machine, which need not have it. May wait for a file server that does not answer.
std::string ReadRootNonce(const std::string& root);

class RootReader {
 public:
  // Gets what was read, twice a minute, on the reader's thread.
  using Report = std::function<void(const std::string& nonce)>;

  RootReader(std::string root, Report report);
  // Stops.
  ~RootReader();

  void Start();
  // No report follows. Does not wait for a file server that does not answer.
  void Stop();

 private:
  // Lives as long as the last thread.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopped = false;
    Report report;
  };

  const std::string root_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ROOT_READER_H_
