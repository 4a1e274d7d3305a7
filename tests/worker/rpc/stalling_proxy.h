// Forwards bytes between a worker and a controller. During a stall, delays them without closing the
// connections, as if the peer's machine hung. In a stall, neither side's kernel reports an error.
#ifndef TRAINYARD_TESTS_WORKER_RPC_STALLING_PROXY_H_
#define TRAINYARD_TESTS_WORKER_RPC_STALLING_PROXY_H_

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trainyard::worker {

class StallingProxy {
 public:
  explicit StallingProxy(int target_port)
      : target_({boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(target_port)}),
        acceptor_(loop_, {boost::asio::ip::address_v4::loopback(), 0}) {
    Accept();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~StallingProxy() {
    loop_.stop();
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  // Bytes that arrive during a stall are delayed, not lost. A connection opened during a stall
  // works once the stall ends.
  void Stall(bool stall) {
    boost::asio::post(loop_, [this, stall] {
      stalled_ = stall;
      if (stall) return;
      for (const auto& deliver : std::exchange(held_back_, {})) deliver();
    });
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;

  void Accept() {
    auto client = std::make_shared<Socket>(loop_);
    acceptor_.async_accept(*client, [this, client](const boost::system::error_code& error) {
      if (error) return;
      auto server = std::make_shared<Socket>(loop_);
      boost::system::error_code refused;
      server->connect(target_, refused);
      if (!refused) {
        Pass(client, server);
        Pass(server, client);
      }
      Accept();
    });
  }

  void Pass(const std::shared_ptr<Socket>& from, const std::shared_ptr<Socket>& to) {
    auto buffer = std::make_shared<std::array<char, 4096>>();
    from->async_read_some(
        boost::asio::buffer(*buffer),
        [this, from, to, buffer](const boost::system::error_code& error, std::size_t size) {
          if (error) {
            boost::system::error_code ignored;
            to->close(ignored);
            return;
          }
          const auto deliver = [this, from, to, buffer, size] {
            boost::system::error_code failed;
            boost::asio::write(*to, boost::asio::buffer(*buffer, size), failed);
            if (!failed) Pass(from, to);
          };
          if (stalled_) {
            held_back_.push_back(deliver);
          } else {
            deliver();
          }
        });
  }

  boost::asio::io_context loop_;
  const boost::asio::ip::tcp::endpoint target_;
  boost::asio::ip::tcp::acceptor acceptor_;
  // Used only on the loop's thread.
  bool stalled_ = false;
  std::vector<std::function<void()>> held_back_;
  std::thread thread_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_RPC_STALLING_PROXY_H_
