// Tests rank 0 against processes that do not follow the protocol, and clients against a process
// that is not rank 0.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "data/leases/lease_client.h"
#include "data/leases/lease_key.h"
#include "data/leases/lease_server.h"
#include "proto/files/directory_nonce.h"
#include "proto/files/unique_fd.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

sockaddr_in LoopbackAddress(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// A socket that sends and receives messages without the checks of LeaseClient.
class RawPeer {
 public:
  explicit RawPeer(UniqueFd socket) : socket_(std::move(socket)) {}
  explicit RawPeer(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = LoopbackAddress(port);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
  }

  void Send(const std::string& bytes) const {
    EXPECT_EQ(send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Returns "" once the other end has closed the connection.
  std::string Receive() const {
    const std::string length = Read(kLengthBytes);
    if (length.empty()) return "";
    return Read(*DecodeLength(length, kMessageBytesMax));
  }
  Reply Ask(const Request& request) const {
    Send(EncodeRequest(request));
    const absl::StatusOr<Reply> reply = DecodeReply(Receive());
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.value_or(Reply{});
  }
  bool IsClosed() const { return Receive().empty(); }

 private:
  // Returns "" at the end of the stream, and if nothing arrives for 20 s, which fails the test.
  std::string Read(size_t bytes) const {
    std::string text(bytes, '\0');
    for (size_t at = 0; at < bytes;) {
      pollfd waiting = {socket_.get(), POLLIN, 0};
      const bool is_ready = poll(&waiting, 1, 20'000) == 1;
      EXPECT_TRUE(is_ready) << "the other end neither answers nor closes";
      const ssize_t got = is_ready ? recv(socket_.get(), text.data() + at, bytes - at, 0) : 0;
      if (got <= 0) return "";
      at += static_cast<size_t>(got);
    }
    return text;
  }

  UniqueFd socket_;
};

class HandshakeTest : public testing::Test {
 protected:
  void StartServer(milliseconds handshake = std::chrono::seconds(10)) {
    LeaseServerSettings settings;
    settings.group = "group";
    settings.key_directory = files_.path();
    settings.handshake = handshake;
    auto server = LeaseServer::Start(settings);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  static Request Hello() {
    Request hello;
    hello.type = RequestType::kHello;
    hello.group = "group";
    hello.rank = 1;
    hello.nonce = NewNonce();
    return hello;
  }
  static Request Proof(const std::string& proof) {
    Request request;
    request.type = RequestType::kProof;
    request.proof = proof;
    return request;
  }
  // The proof of a process that reads the key.
  std::string GoodProof(const Request& hello, const Reply& challenge) const {
    return ClientProof(*ReadLeaseKey(files_.path(), challenge.name),
                       {hello.group, hello.rank, hello.nonce, challenge.nonce});
  }

  absl::Status ConnectTo(uint16_t port, milliseconds limit = std::chrono::seconds(10)) const {
    LeaseClientSettings settings;
    settings.host = "127.0.0.1";
    settings.port = port;
    settings.group = "group";
    settings.key_directory = files_.path();
    settings.connect = limit;
    settings.request_timeout = std::chrono::seconds(10);
    return LeaseClient::Connect(settings, cancelled_).status();
  }

  const TextDirectory files_;
  const std::atomic<bool> cancelled_ = false;
  std::unique_ptr<LeaseServer> server_;
};

TEST_F(HandshakeTest, AdmitsAProcessWithTheKey) {
  StartServer();
  const RawPeer peer(server_->port());
  const Request hello = Hello();
  const Reply challenge = peer.Ask(hello);
  ASSERT_EQ(challenge.type, ReplyType::kChallenge);
  EXPECT_EQ(server_->peers(), 0);
  EXPECT_EQ(peer.Ask(Proof(GoodProof(hello, challenge))).type, ReplyType::kOk);
  EXPECT_EQ(server_->peers(), 1);
  EXPECT_EQ(peer.Ask({}).type, ReplyType::kOk);
}

TEST_F(HandshakeTest, RefusesAProcessWithoutTheKey) {
  StartServer();
  for (const std::string proof :
       {"", "0", "0000000000000000000000000000000000000000000000000000"}) {
    const RawPeer peer(server_->port());
    ASSERT_EQ(peer.Ask(Hello()).type, ReplyType::kChallenge);
    const Reply reply = peer.Ask(Proof(proof));
    EXPECT_EQ(reply.type, ReplyType::kRefused);
    EXPECT_THAT(reply.text, HasSubstr("is not that of rank 0"));
    EXPECT_TRUE(peer.IsClosed());
  }
  EXPECT_EQ(server_->peers(), 0);
}

TEST_F(HandshakeTest, AnswersNoRequestBeforeTheProof) {
  StartServer();
  for (const RequestType type : {RequestType::kNext, RequestType::kTake, RequestType::kRecord,
                                 RequestType::kFail, RequestType::kPing, RequestType::kProof}) {
    const RawPeer peer(server_->port());
    Request request;
    request.type = type;
    request.code = 1;
    EXPECT_EQ(peer.Ask(request).type, ReplyType::kRefused);
    EXPECT_TRUE(peer.IsClosed());
  }
}

TEST_F(HandshakeTest, AProofIsOnlyValidForItsConnection) {
  StartServer();
  const RawPeer first(server_->port());
  const Request hello = Hello();
  const std::string proof = GoodProof(hello, first.Ask(hello));
  const RawPeer second(server_->port());
  ASSERT_EQ(second.Ask(hello).type, ReplyType::kChallenge);
  EXPECT_EQ(second.Ask(Proof(proof)).type, ReplyType::kRefused);
  EXPECT_EQ(first.Ask(Proof(proof)).type, ReplyType::kOk);
}

TEST_F(HandshakeTest, ClosesConnectionsThatProveNothing) {
  StartServer(milliseconds(200));
  const RawPeer silent(server_->port());
  EXPECT_TRUE(silent.IsClosed());
  const RawPeer hesitant(server_->port());
  ASSERT_EQ(hesitant.Ask(Hello()).type, ReplyType::kChallenge);
  EXPECT_TRUE(hesitant.IsClosed());
}

TEST_F(HandshakeTest, ClosesConnectionsWithLongMessagesBeforeTheProof) {
  StartServer(std::chrono::hours(1));
  const RawPeer peer(server_->port());
  peer.Send(std::string("\1\0\1\0", 4));  // one byte more than the limit of 64 KiB
  EXPECT_TRUE(peer.IsClosed());
}

TEST_F(HandshakeTest, ClosesTooManyUnprovenConnections) {
  StartServer(std::chrono::hours(1));
  std::vector<RawPeer> unproven;
  for (int i = 0; i < 257; ++i) unproven.emplace_back(server_->port());
  EXPECT_TRUE(unproven.back().IsClosed());
  EXPECT_EQ(server_->peers(), 0);
}

TEST_F(HandshakeTest, UnprovenConnectionsDoNotKeepProcessesOut) {
  StartServer(milliseconds(500));
  std::vector<RawPeer> unproven;
  for (int i = 0; i < 300; ++i) unproven.emplace_back(server_->port());
  EXPECT_EQ(ConnectTo(server_->port()), absl::OkStatus());
}

// Listens like rank 0, and answers the first connection.
class FalseRankZero {
 public:
  explicit FalseRankZero(const std::function<void(const RawPeer&)>& answer)
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = LoopbackAddress(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_.get(), 16), 0);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread(
        [this, answer] { answer(RawPeer(UniqueFd(accept(listener_.get(), nullptr, nullptr)))); });
  }
  ~FalseRankZero() { thread_.join(); }

  uint16_t port() const { return port_; }

 private:
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(HandshakeTest, AClientRefusesAProcessWithoutTheKey) {
  const auto key = LeaseKey::Create(files_.path());
  ASSERT_TRUE(key.ok()) << key.status();
  const FalseRankZero other([&](const RawPeer& peer) {
    const auto hello = DecodeRequest(peer.Receive());
    ASSERT_TRUE(hello.ok()) << hello.status();
    const Greeting greeting = {hello->group, hello->rank, hello->nonce, NewNonce()};
    peer.Send(EncodeReply({.type = ReplyType::kChallenge,
                           .name = (*key)->name(),
                           .nonce = greeting.server_nonce,
                           .proof = ServerProof("another secret", greeting)}));
    EXPECT_TRUE(peer.IsClosed()) << "the client has sent a proof";
  });
  const absl::Status status = ConnectTo(other.port());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot prove that it is rank 0"));
}

TEST_F(HandshakeTest, AClientReadsNoLongReply) {
  const FalseRankZero other([](const RawPeer& peer) {
    (void)peer.Receive();
    peer.Send(std::string("\1\0\1\0", 4));
    EXPECT_TRUE(peer.IsClosed());
  });
  const absl::Status status = ConnectTo(other.port(), milliseconds(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(HandshakeTest, AClientNeedsTheStorageOfRankZero) {
  StartServer();
  std::filesystem::remove_all(files_ / "");
  const absl::Status status = ConnectTo(server_->port());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("on storage that all nodes share"));
}

}  // namespace
}  // namespace trainyard::data
