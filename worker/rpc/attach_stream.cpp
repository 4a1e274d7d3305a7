#include "worker/rpc/attach_stream.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <future>
#include <mutex>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "proto/access/channel.h"
#include "proto/access/controller_list.h"
#include "proto/access/secret.h"
#include "proto/proof/digest.h"
#include "proto/proof/proof.h"
#include "proto/support/detached_thread.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"
#include "trainyard/v1/worker_control.grpc.pb.h"
#include "worker/rpc/dial_controller.h"

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

// Upper limit of the random pause before the next controller of the list is dialed.
constexpr int64_t kSwitchMsMax = 100;

// A reference to the loop of a stream, for a thread that may outlive both.
class LoopHandle {
 public:
  explicit LoopHandle(asio::io_context& loop) : loop_(&loop) {}
  void Close() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }
  void Post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (loop_ != nullptr) asio::post(*loop_, std::move(work));
  }

 private:
  std::mutex mutex_;
  asio::io_context* loop_;  // Guarded by mutex_; null after closing.
};

}  // namespace

// One dial and the resulting stream. gRPC's threads only post to the loop; members are used on the
// loop's thread unless stated otherwise. A hold (AddHold) keeps gRPC from ending the call while the
// loop may still write to it.
class AttachStream::Call : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::ControllerMessage>,
                           public std::enable_shared_from_this<Call> {
 public:
  Call(asio::io_context& loop, Connection& connection) : loop_(loop), connection_(&connection) {}

  // Starts the stream to a controller that has proved its knowledge of the token.
  void Begin(DialedController dialed, v1::Hello hello) {
    keeps_itself_ = shared_from_this();
    token_ = std::move(dialed.token);
    nonce_ = hello.nonce();
    node_id_ = hello.node_id();
    channel_ = std::move(dialed.opened.channel);
    stub_ = v1::WorkerControl::NewStub(channel_);
    stub_->async()->Attach(&context_, this);
    AddHold();
    StartRead(&incoming_);
    *outgoing_.mutable_hello() = std::move(hello);
    writing_ = true;
    StartWrite(&outgoing_);
    StartCall();
  }

  // True if the sender of this Welcome knows the token.
  bool IsProven(const v1::Welcome& welcome) const {
    return SameSecret(welcome.token_proof(), WelcomeProof(token_, nonce_, node_id_));
  }

  // False while a message is being written, and after Release. Thread-safe.
  bool IsFree() {
    const std::lock_guard lock(mutex_);
    return !writing_ && !released_;
  }
  // If IsFree, moves the message into the stream and returns true. Thread-safe: a separate hold
  // keeps the call alive, even if the loop releases it at the same time.
  bool Write(v1::WorkerMessage& message) {
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || released_) return false;
      writing_ = true;
      AddHold();
    }
    outgoing_ = std::exchange(message, {});
    StartWrite(&outgoing_);
    RemoveHold();
    return true;
  }
  void ReadNext() { StartRead(&incoming_); }
  const v1::ControllerMessage& incoming() const { return incoming_; }

  // Call when no more writes will follow. gRPC ends the call once all pending operations have
  // completed.
  void Release() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(released_, true)) return;
    }
    RemoveHold();
  }

  // Ends the call with the given reason.
  void Cancel(const absl::Status& reason) {
    if (cancel_reason.ok()) cancel_reason = reason;
    context_.TryCancel();
  }

  // Call when the owner is destroyed. Returns after gRPC has released the call.
  void Abandon() {
    connection_ = nullptr;
    context_.TryCancel();
    Release();
    done_->get_future().wait();
  }

  bool welcomed = false;
  absl::Status cancel_reason;

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  asio::io_context& loop_;
  // Null after the owner was destroyed.
  Connection* connection_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkerControl::Stub> stub_;
  grpc::ClientContext context_;
  v1::ControllerMessage incoming_;
  // May be used only by the thread that set writing_ to true.
  v1::WorkerMessage outgoing_;
  std::mutex mutex_;
  bool writing_ = false;   // Guarded by mutex_.
  bool released_ = false;  // Guarded by mutex_.
  std::string token_;
  std::string nonce_;
  std::string node_id_;
  const std::shared_ptr<std::promise<void>> done_ = std::make_shared<std::promise<void>>();
  // Set until OnDone.
  std::shared_ptr<Call> keeps_itself_;
};

struct AttachStream::Connection : std::enable_shared_from_this<Connection> {
  Connection(asio::io_context& loop, AttachHandler& handler, AttachOptions options)
      : loop(loop),
        handler(handler),
        options(ForSeveral(std::move(options))),
        controllers(this->options.controllers),
        loop_handle(std::make_shared<LoopHandle>(loop)),
        retry_timer(loop),
        welcome_timer(loop),
        random(std::random_device{}()),
        welcome_wait_ms(this->options.welcome_timeout_ms) {}

  ~Connection() {
    loop_handle->Close();
    if (call != nullptr) call->Abandon();
  }

  void Open();
  void Begin(DialedController dialed);
  void ReadDone(Call& of, bool ok);
  void Done(const absl::Status& status);
  void RetryAfter(const absl::Status& reason);
  void WaitLonger();
  void Greet(const v1::ControllerMessage& message);
  void Pump();
  void SetWelcomed(std::shared_ptr<Call> welcomed);
  bool WriteNow(v1::WorkerMessage message);
  milliseconds NextBackoff();
  milliseconds NextSwitch();

  asio::io_context& loop;
  AttachHandler& handler;
  const AttachOptions options;
  ControllerList controllers;
  const std::shared_ptr<LoopHandle> loop_handle;
  asio::steady_timer retry_timer;
  asio::steady_timer welcome_timer;
  std::minstd_rand random;
  int64_t backoff_ms = 0;
  // Time limit of the next dial.
  int64_t welcome_wait_ms;
  std::shared_ptr<Call> call;
  // A message from the handler that was not yet written to `call`.
  std::optional<v1::WorkerMessage> next;
  std::mutex welcomed_mutex;
  std::shared_ptr<Call> welcomed_call;  // `call` after its Welcome. Guarded by welcomed_mutex.
};

void AttachStream::Call::OnReadDone(bool ok) {
  asio::post(loop_, [self = shared_from_this(), ok] {
    if (self->connection_ != nullptr) self->connection_->ReadDone(*self, ok);
  });
}

void AttachStream::Call::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    // After a failed write, writing_ stays true, so that nothing more is written. gRPC calls OnDone
    // next.
    writing_ = !ok;
  }
  asio::post(loop_, [self = shared_from_this(), ok] {
    if (ok && self->connection_ != nullptr) self->connection_->Pump();
  });
}

void AttachStream::Call::OnDone(const grpc::Status& status) {
  // After the post, this object may be destroyed at any time and must not be used. This thread is
  // one of gRPC's callback threads and must not destroy the object: when the last channel is
  // destroyed, gRPC joins these threads.
  const std::shared_ptr<std::promise<void>> done = done_;
  asio::post(loop_, [self = std::move(keeps_itself_), status = FromGrpc(status)] {
    if (self->connection_ != nullptr) self->connection_->Done(status);
  });
  done->set_value();
}

// Dialing blocks, so it runs on a separate thread.
void AttachStream::Connection::Open() {
  const absl::Status started = RunDetached(
      "dial the controller",
      [weak = weak_from_this(), handle = loop_handle, controller = controllers.current(),
       rules = DialRules{options.token_file, milliseconds(welcome_wait_ms),
                         ControllerArguments(options)}] {
        absl::StatusOr<DialedController> dialed = DialController(controller, rules);
        handle->Post([weak, dialed = std::move(dialed)]() mutable {
          const std::shared_ptr<Connection> self = weak.lock();
          if (self == nullptr) return;
          if (dialed.ok()) return self->Begin(*std::move(dialed));
          if (absl::IsDeadlineExceeded(dialed.status())) self->WaitLonger();
          self->RetryAfter(dialed.status());
        });
      });
  if (!started.ok()) RetryAfter(started);
}

void AttachStream::Connection::Begin(DialedController dialed) {
  call = std::make_shared<Call>(loop, *this);
  v1::Hello hello = handler.MakeHello(dialed.opened.challenge, NewSecret());
  call->Begin(std::move(dialed), std::move(hello));
  welcome_timer.expires_after(milliseconds(welcome_wait_ms));
  welcome_timer.async_wait(
      [weak = weak_from_this(), of = std::weak_ptr(call)](const boost::system::error_code& error) {
        const std::shared_ptr<Connection> self = weak.lock();
        const std::shared_ptr<Call> waiting = of.lock();
        if (error || self == nullptr || waiting == nullptr || waiting->welcomed) return;
        waiting->Cancel(absl::DeadlineExceededError(
            absl::StrCat("no answer within ", self->welcome_wait_ms, " ms")));
        self->WaitLonger();
      });
}

void AttachStream::Connection::WaitLonger() {
  welcome_wait_ms = std::min(2 * welcome_wait_ms, options.welcome_timeout_ms_max);
}

void AttachStream::Connection::ReadDone(Call& of, bool ok) {
  if (!ok) {
    of.Release();
    return;
  }
  if (!of.welcomed) {
    Greet(of.incoming());
  } else if (const absl::Status admitted = handler.Admit(of.incoming()); !admitted.ok()) {
    of.Cancel(admitted);
  } else {
    handler.OnMessage(of.incoming());
  }
  of.ReadNext();
  Pump();
}

void AttachStream::Connection::Greet(const v1::ControllerMessage& message) {
  if (!message.has_welcome()) {
    call->Cancel(absl::FailedPreconditionError("the controller did not answer Hello with Welcome"));
    return;
  }
  if (!call->IsProven(message.welcome())) {
    call->Cancel(
        absl::PermissionDeniedError("the controller did not prove in Welcome that it knows the "
                                    "token; no command was executed"));
    return;
  }
  if (const absl::Status admitted = handler.Admit(message); !admitted.ok()) {
    call->Cancel(admitted);
    return;
  }
  call->welcomed = true;
  welcome_timer.cancel();
  backoff_ms = 0;
  controllers.Succeeded();
  welcome_wait_ms = options.welcome_timeout_ms;
  // Call this before OnWelcome, so that WriteNow works while OnWelcome writes to the disk, which
  // may hang.
  SetWelcomed(call);
  handler.OnWelcome(message.welcome());
}

// While NextMessage is blocked on a disk, WriteNow may use the stream. If the stream is not free
// afterwards, the message waits in `next`.
void AttachStream::Connection::Pump() {
  if (call == nullptr || !call->welcomed || !call->IsFree()) return;
  if (!next.has_value()) next = handler.NextMessage();
  if (next.has_value() && call->Write(*next)) next.reset();
}

void AttachStream::Connection::SetWelcomed(std::shared_ptr<Call> welcomed) {
  const std::lock_guard lock(welcomed_mutex);
  welcomed_call = std::move(welcomed);
}

bool AttachStream::Connection::WriteNow(v1::WorkerMessage message) {
  std::shared_ptr<Call> open;
  {
    const std::lock_guard lock(welcomed_mutex);
    open = welcomed_call;
  }
  return open != nullptr && open->Write(message);
}

void AttachStream::Connection::Done(const absl::Status& status) {
  const std::shared_ptr<Call> ended = std::move(call);
  call = nullptr;
  SetWelcomed(nullptr);
  next.reset();
  welcome_timer.cancel();
  absl::Status reason = ended->cancel_reason.ok() ? status : ended->cancel_reason;
  if (reason.ok()) reason = absl::UnavailableError("the controller closed the stream");
  RetryAfter(reason);
}

// Dials the next controller soon, and pauses longer once all controllers have failed.
void AttachStream::Connection::RetryAfter(const absl::Status& reason) {
  const std::string failed = controllers.current();
  retry_timer.expires_after(controllers.Advance() ? NextBackoff() : NextSwitch());
  retry_timer.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const std::shared_ptr<Connection> self = weak.lock();
    if (!error && self != nullptr) self->Open();
  });
  handler.OnClosed(failed, reason);
}

milliseconds AttachStream::Connection::NextBackoff() {
  backoff_ms =
      backoff_ms == 0 ? options.backoff_ms_min : std::min(backoff_ms * 2, options.backoff_ms_max);
  // Half of the wait is random, so that a thousand workers do not dial a new controller at the same
  // moment.
  std::uniform_int_distribution<int64_t> jitter(0, backoff_ms / 2);
  return milliseconds(backoff_ms - backoff_ms / 2 + jitter(random));
}

milliseconds AttachStream::Connection::NextSwitch() {
  return milliseconds(std::uniform_int_distribution<int64_t>(0, kSwitchMsMax)(random));
}

AttachStream::AttachStream(asio::io_context& loop, AttachHandler& handler, AttachOptions options)
    : connection_(std::make_shared<Connection>(loop, handler, std::move(options))) {}

AttachStream::~AttachStream() = default;

void AttachStream::Start() { connection_->Open(); }

const std::string& AttachStream::controller() const { return connection_->controllers.current(); }

void AttachStream::Wake() { connection_->Pump(); }

bool AttachStream::WriteNow(v1::WorkerMessage message) {
  return connection_->WriteNow(std::move(message));
}

}  // namespace trainyard::worker
