// A small HTTP server on a free port. Records requests and returns the answers set by a test.
#ifndef TRAINYARD_TESTS_CONTROLLER_HOOKS_RECEIVER_H_
#define TRAINYARD_TESTS_CONTROLLER_HOOKS_RECEIVER_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {

class Receiver {
 public:
  // Returns the status for the request with this number, counted from 0. 0 closes the connection
  // without an answer, and -1 never answers.
  using Answer = std::function<int(int number)>;

  explicit Receiver(Answer answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_, 16);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Receiver() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    for (const int open : open_) close(open);
  }

  std::string Url(const std::string& path = "/hook") const {
    return absl::StrCat("http://127.0.0.1:", port_, path);
  }

  // Waits until there are `count` requests and returns them, each with head and body.
  std::vector<std::string> WaitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return requests_.size() >= count; });
    return requests_;
  }

 private:
  void Serve() {
    for (int number = 0;; ++number) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      std::string request = ReadRequest(connection);
      const int status = answer_(number);
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(request));
      }
      changed_.notify_all();
      if (status < 0) {
        open_.push_back(connection);
        continue;
      }
      const std::string answer =
          absl::StrCat("HTTP/1.1 ", status, " Answer\r\nContent-Length: 0\r\n\r\n");
      if (status > 0) (void)!write(connection, answer.data(), answer.size());
      close(connection);
    }
  }

  static std::string ReadRequest(int connection) {
    std::string request;
    char buffer[4096];
    std::size_t wanted = std::string::npos;
    while (request.size() < wanted) {
      const ssize_t bytes = read(connection, buffer, sizeof buffer);
      if (bytes <= 0) break;
      request.append(buffer, static_cast<std::size_t>(bytes));
      const std::size_t head = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (head == std::string::npos || length == std::string::npos) continue;
      wanted = head + 4 + std::stoul(request.substr(length + 16));
    }
    return request;
  }

  const Answer answer_;
  int listener_ = -1;
  int port_ = 0;
  std::vector<int> open_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> requests_;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_HOOKS_RECEIVER_H_
