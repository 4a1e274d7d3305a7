// Tests the limits and time-outs of connections, with a handler that echoes each request.
#include "controller/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Stores the streams opened by the server, so that a test can detect a dropped stream.
class ServerTest : public testing::Test {
 protected:
  void Start(ServerLimits limits) {
    auto server = Server::Listen("127.0.0.1:0", limits);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    server_->Start([this](const Request& request, const Respond& respond) {
      if (request.target != "/stream") return respond({.body = "\"" + request.body + "\""});
      Response response;
      response.stream = [this](std::shared_ptr<StreamSink> sink) {
        const std::lock_guard lock(mutex_);
        streams_.push_back(std::move(sink));
        changed_.notify_all();
      };
      respond(std::move(response));
    });
  }

  // A stream must not outlive its server.
  void TearDown() override {
    if (server_ != nullptr) server_->Stop();
    streams_.clear();
  }

  HttpClient Connect() { return HttpClient(server_->address()); }

  std::shared_ptr<StreamSink> WaitForStream() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(20), [this] { return !streams_.empty(); }));
    return streams_.back();
  }

  // Returns true if the server answers a client within 20 s. On a busy machine, a client itself may
  // exceed the test's short time-outs. In that case another client tries.
  bool Serves() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (Connect().Get("/").status != 200) {
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  // Waits until the server's thread has finished all earlier work.
  void Settle() {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable done;
    bool ran = false;
    server_->Post([&] {
      const std::lock_guard inner(mutex);
      ran = true;
      done.notify_all();
    });
    done.wait(lock, [&] { return ran; });
  }

  // Waits up to 20 s for the stream to be dropped. Returns false if it is still open.
  bool IsDropped(const StreamSink& stream) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (stream.open() && std::chrono::steady_clock::now() < end) Settle();
    return !stream.open();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<StreamSink>> streams_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ASlowHeaderIsToldSoAndDropped) {
  Start({.read_timeout = milliseconds(50)});
  HttpClient client(server_->address());
  client.SendBytes("GET / HTTP/1.1\r\nHost: local");
  const Answer answer = client.ReadAnswer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.Json()["code"], "request_timeout");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_EQ(client.ReadAnswer().status, 0) << "the server has closed";
  EXPECT_TRUE(Serves());
}

TEST_F(ServerTest, ASlowBodyIsToldSoAndDropped) {
  Start({.read_timeout = milliseconds(50)});
  HttpClient client(server_->address());
  client.SendBytes("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nsome");
  EXPECT_EQ(client.ReadAnswer().status, 408);
  EXPECT_EQ(client.ReadAnswer().status, 0);
}

// Pause in ms between the bytes of a slow client. The pause is shorter than the time-out, but the
// deadline applies to the whole request, so the bytes do not extend it.
constexpr int kTrickleMs = 5;

TEST_F(ServerTest, AClientThatTricklesIsDroppedAllTheSame) {
  Start({.header_bytes = 1 << 30, .read_timeout = milliseconds(100)});
  HttpClient client(server_->address());
  client.SendBytes("GET / HTTP/1.1\r\nHost: localhost\r\n");
  // Whenever bytes arrive, the server parses the incomplete header again from its beginning.
  // Without the pause, the header would grow too large to be parsed in time.
  while (!client.HasInput(kTrickleMs)) client.SendBytes("X: y\r\n");
  EXPECT_EQ(client.ReadAnswer().status, 408);
}

TEST_F(ServerTest, AConnectionThatSaysNothingIsClosedWithoutAWord) {
  Start({.read_timeout = milliseconds(50), .idle = milliseconds(50)});
  HttpClient unresponsive(server_->address());
  EXPECT_EQ(unresponsive.ReadAnswer().status, 0);
}

TEST_F(ServerTest, AConnectionThatIsIdleIsClosedWithoutAWord) {
  Start({.idle = milliseconds(50)});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (bool served = false; !served;) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    HttpClient idle(server_->address());
    // On a busy machine, even this client may be too slow to send its request in time.
    served = idle.Get("/").status == 200;
    if (served) {
      EXPECT_EQ(idle.ReadAnswer().status, 0);
    }
  }
}

TEST_F(ServerTest, ConnectionsBeyondTheLimitAreRefusedWithAReason) {
  Start({.connections = 2});
  HttpClient first(server_->address());
  HttpClient second(server_->address());
  EXPECT_EQ(first.Get("/").status, 200);
  EXPECT_EQ(second.Get("/").status, 200);
  {
    HttpClient third(server_->address());
    const Answer answer = third.ReadAnswer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.Json()["code"], "too_many_connections");
    EXPECT_THAT(answer.Json()["detail"].get<std::string>(), HasSubstr("2 connections"));
    EXPECT_EQ(answer.headers.at("retry-after"), "1");
  }
  EXPECT_EQ(first.Get("/").status, 200) << "those who are in stay in";
}

TEST_F(ServerTest, FarBeyondTheLimitNoConnectionIsAccepted) {
  Start({.connections = 1});
  HttpClient first(server_->address());
  EXPECT_EQ(first.Get("/").status, 200);
  std::vector<std::unique_ptr<HttpClient>> crowd;
  for (int i = 0; i < 100; ++i) crowd.push_back(std::make_unique<HttpClient>(server_->address()));
  EXPECT_EQ(crowd.front()->ReadAnswer().status, 503);
  EXPECT_EQ(crowd.back()->ReadAnswer().status, 0);
  EXPECT_EQ(first.Get("/").status, 200);
}

TEST_F(ServerTest, AStreamThatIsNeverReadIsDroppedOnceTooMuchWaits) {
  Start({.stream_bytes = 1 << 20});
  HttpClient client(server_->address());
  client.SendBytes("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto stream = WaitForStream();
  const auto message = std::make_shared<const std::string>(64 << 10, 'x');
  // The kernel buffers a few megabytes. The server queues messages only if these buffers are full.
  int sent = 0;
  while (stream->open() && sent < 10'000) {
    stream->Send(message);
    Settle();
    ++sent;
  }
  EXPECT_FALSE(stream->open());
  EXPECT_LT(sent, 1000) << "dropped within 64 MiB";
  EXPECT_EQ(server_->Streams().open, 0);
  EXPECT_EQ(server_->Streams().dropped, 1);
}

TEST_F(ServerTest, AStreamWhoseReaderTakesNothingIsDroppedInTime) {
  Start({.read_timeout = milliseconds(100)});
  HttpClient client(server_->address());
  client.SendBytes("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto stream = WaitForStream();
  // The message is larger than the kernel's buffers for a connection, so writing it blocks.
  stream->Send(std::make_shared<const std::string>(64 << 20, 'x'));
  EXPECT_TRUE(IsDropped(*stream));
  Settle();
  EXPECT_EQ(server_->Streams().dropped, 1);
}

// The first message of a stream grows with the size of the cluster, and the reader's connection may
// be slow.
TEST_F(ServerTest, ALargeBeginningIsNoReasonToDropAStream) {
  Start({.stream_bytes = 1000});
  HttpClient client(server_->address());
  client.SendBytes("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto stream = WaitForStream();
  const std::string large(8 << 20, 'x');
  stream->Send(std::make_shared<const std::string>("event: a\ndata: " + large + "\n\n"));
  stream->Send(std::make_shared<const std::string>("event: b\ndata: small\n\n"));
  EXPECT_EQ(client.ReadAnswer().status, 200);
  EXPECT_EQ(client.ReadEvent().at("data").size(), large.size());
  EXPECT_EQ(client.ReadEvent().at("data"), "small");
  EXPECT_TRUE(stream->open());
}

TEST_F(ServerTest, AClientThatGoesAwayEndsItsStream) {
  Start({});
  std::shared_ptr<StreamSink> stream;
  {
    HttpClient client(server_->address());
    client.SendBytes("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream = WaitForStream();
    EXPECT_EQ(client.ReadAnswer().status, 200);
    EXPECT_EQ(server_->Streams().open, 1);
  }
  EXPECT_TRUE(IsDropped(*stream));
  EXPECT_EQ(server_->Streams().open, 0);
  EXPECT_EQ(server_->Streams().dropped, 0) << "nobody was too slow";
}

}  // namespace
}  // namespace trainyard::controller::http
