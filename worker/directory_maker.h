// Creates directories on shared storage. Creation hangs while the file server does not answer.
#ifndef TRAINYARD_WORKER_DIRECTORY_MAKER_H_
#define TRAINYARD_WORKER_DIRECTORY_MAKER_H_

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace trainyard::worker {

// Creates each directory on its own thread, so that a hanging directory does not delay the others.
// All functions must be called on the loop's thread. `done` is called on the same thread.
class DirectoryMaker {
 public:
  // Creates a directory and its parents. Called on any thread; may still run when the
  // DirectoryMaker is destroyed.
  using Make = std::function<absl::Status(const std::string& path)>;
  using Done = std::function<void(const absl::Status& status)>;

  DirectoryMaker(boost::asio::io_context& loop, Make make);
  // Does not wait for hanging directories. `done` is not called once the destructor has started.
  ~DirectoryMaker();

  // The limit on the number of simultaneous creations of directories, including hanging
  // creations.
  static constexpr std::size_t kMostAtOnce = 64;

  // Calls `done` when the directory exists or cannot be created. If kMostAtOnce other directories
  // are in progress, fails at once with RESOURCE_EXHAUSTED. Requests for the same directory share
  // one thread.
  void MakeDirectory(const std::string& path, Done done);

 private:
  // Shared with the threads, and exists until the last thread has ended. `maker` is null after the
  // maker was destroyed.
  struct Link {
    std::mutex mutex;
    DirectoryMaker* maker = nullptr;
  };

  void Made(const std::string& path, const absl::Status& status);

  boost::asio::io_context& loop_;
  const Make make_;
  std::shared_ptr<Link> link_;
  std::map<std::string, std::vector<Done>> waiting_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DIRECTORY_MAKER_H_
