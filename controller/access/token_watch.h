// Detects a replaced token file.
#ifndef TRAINYARD_CONTROLLER_ACCESS_TOKEN_WATCH_H_
#define TRAINYARD_CONTROLLER_ACCESS_TOKEN_WATCH_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace trainyard::controller {

class TokenWatch {
 public:
  // Called on the watch thread whenever the file contains a new token.
  using OnNewToken = std::function<void(const std::string& token)>;

  // `token` is the token currently in use. An empty path disables the watch.
  TokenWatch(std::string path, std::string token, OnNewToken on_new_token);
  // Stops.
  ~TokenWatch();

  // Starts a thread that reads the file every few seconds.
  void Start();
  void Stop();

  // Reads the file once. If the file contains no token, keeps the current token. Logs this error
  // only the first time.
  void Check();

 private:
  void Run();

  const std::string path_;
  const OnNewToken on_new_token_;
  // Used by Check only.
  std::string token_;
  std::string problem_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_TOKEN_WATCH_H_
