// A plain HTTP client over a socket. Sends exactly the bytes that a test passes to the client.
#ifndef TRAINYARD_TESTS_CONTROLLER_HTTP_HTTP_CLIENT_H_
#define TRAINYARD_TESTS_CONTROLLER_HTTP_HTTP_CLIENT_H_

#include <map>
#include <string>

#include "nlohmann/json.hpp"

namespace trainyard::controller::http {

struct Answer {
  int status = 0;
  // Header names are in lower case.
  std::map<std::string, std::string> headers;
  std::string body;

  nlohmann::json Json() const { return nlohmann::json::parse(body, nullptr, false); }
};

class HttpClient {
 public:
  // `address` is "host:port". Fails the test if it cannot connect.
  explicit HttpClient(const std::string& address);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Sends one request with a Host header and reads the answer. The connection stays open.
  Answer Send(const std::string& method, const std::string& target,
              const std::map<std::string, std::string>& headers = {}, const std::string& body = "");
  Answer Get(const std::string& target) { return Send("GET", target); }
  Answer Post(const std::string& target, const std::string& body) {
    return Send("POST", target, {{"Content-Type", "application/json"}}, body);
  }

  void SendBytes(const std::string& bytes);
  // True if unread bytes have arrived or the server has closed the connection; waits up to
  // `wait_ms` for either.
  bool HasInput(int wait_ms = 0) const;
  // Reads one answer. The answer's status is 0 if the server closed the connection instead. Pass
  // false for `has_body` after a HEAD request.
  Answer ReadAnswer(bool has_body = true);
  // Returns the fields of the stream's next event, by name. Empty at the end of the stream.
  std::map<std::string, std::string> ReadEvent();

 private:
  // Reads more bytes. Returns false at the end of the input.
  bool Fill();
  std::string TakeUntil(const std::string& end);

  const std::string address_;
  int fd_ = -1;
  std::string buffer_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_TESTS_CONTROLLER_HTTP_HTTP_CLIENT_H_
