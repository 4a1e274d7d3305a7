#include "tests/simulation/store/store_cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"

namespace trainyard::simulation {
namespace {

// Unix ms. Must be far from 0, which means "never".
constexpr Timestamp kStartMs = 1'000'000'000'000;
constexpr int64_t kInjectEveryMs = 100;
constexpr int64_t kSlowestRequestMs = 15;
constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kLongestCutMs = 6'000;

}  // namespace

StoreClusterOptions StoreOptionsOf(uint64_t seed) {
  Random random(seed * 7919);
  const auto sometimes = [&](double value) { return random.Chance(0.5) ? value : 0; };
  StoreClusterOptions options;
  options.seed = seed;
  options.controllers = random.Chance(0.3) ? 3 : 2;
  StoreFaults& faults = options.faults;
  faults.break_before = sometimes(0.002);
  faults.break_after = sometimes(0.004);
  faults.late_answer = sometimes(0.01);
  faults.pause_at_step = sometimes(0.005);
  faults.pause = sometimes(0.06);
  faults.kill = sometimes(0.04);
  faults.hand_over = sometimes(0.03);
  faults.cut_database = sometimes(0.05);
  faults.cut_workers = sometimes(0.05);
  faults.cut_clients = sometimes(0.05);
  faults.break_link = sometimes(0.2);
  faults.step_clock = sometimes(0.1);
  faults.restart_database = sometimes(0.05);
  faults.end_session = sometimes(0.1);
  faults.fill_disk = sometimes(0.04);
  faults.duplicate_request = sometimes(0.1);
  return options;
}

StoreCluster::StoreCluster(const StoreClusterOptions& options)
    : options_(options),
      random_(options.seed),
      faults_(options.faults),
      agenda_(kStartMs),
      database_ahead_ms_(random_.Between(-kHourMs, kHourMs)),
      database_([this] { return agenda_.now() + database_ahead_ms_; }),
      world_{agenda_, random_, database_, audit_, faults_},
      links_(world_,
             {.member =
                  [this](int member, int64_t link, int node, v1::WorkerMessage message) {
                    members_[member]->ReceiveFromWorker(link, nodes_[node]->id(),
                                                        std::move(message));
                  },
              .node =
                  [this](int node, int64_t link, const v1::ControllerMessage& message) {
                    nodes_[node]->Receive(link, message);
                  },
              .member_closed = [this](int member,
                                      int64_t link) { members_[member]->LinkClosed(link); },
              .node_closed = [this](int node, int64_t link) { nodes_[node]->Closed(link); }}) {
  database_.SetObserver(&audit_);
  audit_.OnSessionEnded([this](int64_t session) {
    for (const auto& member : members_) member->SessionEnded(session);
  });
  world_.to_client = [this](int client, ClientAnswer answer) {
    ToClient(client, std::move(answer));
  };
  world_.to_worker = [this](int64_t link, v1::ControllerMessage message) {
    links_.ToNode(link, std::move(message));
  };
  world_.close_link = [this](int64_t link) { links_.Close(link); };
  world_.close_links = [this](int member) { links_.CloseAllOf(member); };
  for (int i = 0; i < options_.controllers; ++i) {
    members_.push_back(std::make_unique<Member>(i, world_));
    members_.back()->Start();
  }
  for (int i = 0; i < options_.nodes; ++i) {
    Node::Stream stream{
        .open =
            [this, i] {
              return links_.Open(i, static_cast<int>(random_.Between(0, options_.controllers - 1)));
            },
        .send = [this](int64_t link,
                       v1::WorkerMessage message) { links_.ToMember(link, std::move(message)); },
        .close = [this](int64_t link) { links_.Close(link); }};
    // Workers of earlier releases do not send the highest term that they have seen.
    const bool sends_term = i % 2 == 0;
    nodes_.push_back(
        std::make_unique<Node>(absl::StrCat("n", i), sends_term, world_, std::move(stream)));
    nodes_.back()->Start();
  }
  for (int i = 0; i < options_.clients; ++i) {
    clients_.push_back(std::make_unique<Client>(
        i, options_.controllers, world_, history_,
        [this](int member, const ClientRequest& request) { ToMember(member, request); }));
    clients_.back()->Start();
  }
  agenda_.After(kInjectEveryMs, [this] { Inject(); });
}

void StoreCluster::ToMember(int member, const ClientRequest& request) {
  const int times = random_.Chance(faults_.duplicate_request) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    agenda_.After(random_.Between(1, kSlowestRequestMs), [this, member, request] {
      if (!world_.IsCut(member, Side::kClients)) members_[member]->Receive(request);
    });
  }
}

void StoreCluster::ToClient(int client, ClientAnswer answer) {
  agenda_.After(random_.Between(1, kSlowestRequestMs),
                [this, client, answer = std::move(answer)] { clients_[client]->Receive(answer); });
}

void StoreCluster::Inject() {
  agenda_.After(kInjectEveryMs, [this] { Inject(); });
  for (int i = 0; i < options_.controllers; ++i) InjectInto(i);
  for (const auto& node : nodes_) {
    if (random_.EachSecond(faults_.break_link, kInjectEveryMs)) node->BreakLink();
  }
  InjectIntoDatabase();
}

void StoreCluster::InjectInto(int member) {
  const auto strikes = [&](double chance) { return random_.EachSecond(chance, kInjectEveryMs); };
  Member& controller = *members_[member];
  if (strikes(faults_.pause)) {
    controller.Pause(random_.Chance(0.1) ? kMinuteMs : random_.Between(100, kLongestCutMs));
  }
  if (strikes(faults_.kill)) controller.Kill();
  if (strikes(faults_.hand_over)) controller.HandOver((member + 1) % options_.controllers);
  if (strikes(faults_.step_clock)) {
    controller.StepWallClock(random_.Between(-kHourMs, kHourMs));
  }
  Cut(member, Side::kDatabase, faults_.cut_database, kLongestCutMs);
  Cut(member, Side::kWorkers, faults_.cut_workers, kLongestCutMs);
  Cut(member, Side::kClients, faults_.cut_clients, kLongestCutMs);
}

void StoreCluster::Cut(int member, Side side, double chance, int64_t ms_max) {
  if (!random_.EachSecond(chance, kInjectEveryMs)) return;
  if (!world_.cuts.insert({member, side}).second) return;
  agenda_.After(random_.Between(100, ms_max), [this, member, side] {
    world_.cuts.erase({member, side});
  });
}

void StoreCluster::InjectIntoDatabase() {
  const auto strikes = [&](double chance) { return random_.EachSecond(chance, kInjectEveryMs); };
  if (strikes(faults_.restart_database)) RestartDatabase();
  if (strikes(faults_.end_session)) EndSomeSession();
  if (strikes(faults_.fill_disk)) {
    database_.SetFull(true);
    agenda_.After(random_.Between(100, kLongestCutMs), [this] { database_.SetFull(false); });
  }
  if (strikes(faults_.restore_copy)) {
    if (!restored_) database_.TakeCopy();
    agenda_.After(random_.Between(1'000, 2 * kLongestCutMs), [this] {
      if (faults_.restore_copy == 0) return;
      restored_ = true;
      RestartDatabase();
      database_.PutCopyBack();
      audit_.Restored(database_.log());
    });
  }
}

// A controller that is cut off would not learn that its session has ended.
void StoreCluster::EndSomeSession() {
  const auto is_database = [](const auto& cut) { return cut.second == Side::kDatabase; };
  const std::vector<int64_t> sessions = database_.Sessions();
  if (sessions.empty() || std::ranges::any_of(world_.cuts, is_database)) return;
  database_.EndSession(sessions[random_.Between(0, static_cast<int64_t>(sessions.size()) - 1)]);
}

void StoreCluster::RestartDatabase() {
  world_.database_is_down = true;
  database_.EndAllSessions();
  agenda_.After(random_.Between(100, 1'500), [this] { world_.database_is_down = false; });
}

void StoreCluster::Complain(const std::string& text) {
  if (!failure_.empty() || text.empty()) return;
  failure_ = absl::StrCat("seed ", options_.seed, ", ", agenda_.now() - kStartMs, " ms: ", text);
}

void StoreCluster::RunUntil(Timestamp end) {
  agenda_.RunUntil(end, [this] { return !audit_.failure().empty(); });
  Complain(audit_.failure());
}

void StoreCluster::RunFor(int64_t ms) { RunUntil(agenda_.now() + ms); }

bool StoreCluster::IsSettled() const {
  if (std::ranges::any_of(clients_, [](const auto& one) { return one->IsWaiting(); })) return false;
  return std::ranges::all_of(nodes_, [this](const auto& node) {
    // A restore can lose facts that were acknowledged. A node whose Hello has no term is refused
    // by no leader, but refuses the leader itself if it has seen a higher term.
    if (restored_) return node->IsAttached() || !node->sends_term();
    return node->IsAttached() && node->acknowledged_facts() == node->facts();
  });
}

void StoreCluster::Settle(int64_t ms_max) {
  faults_ = {};
  world_.cuts.clear();
  database_.SetFull(false);
  for (const auto& client : clients_) client->Stop();
  const Timestamp end = agenda_.now() + ms_max;
  while (failure_.empty() && agenda_.now() < end && !IsSettled()) {
    RunUntil(agenda_.now() + 1'000);
  }
  if (!IsSettled()) Complain("requests or facts are not answered in time");
}

void StoreCluster::CheckEnd() {
  if (!failure_.empty()) return;
  if (!restored_) Complain(CheckLinearizable(history_.operations));
  controller::EventLog::Recovery recovery = database_.log().Recover().value();
  controller::ClusterState state;
  if (recovery.snapshot.has_value()) {
    state = controller::FromSnapshot(*std::move(recovery.snapshot));
  }
  for (const v1::Event& event : recovery.events) controller::Apply(event, state);
  audit_.CheckState(state, recovery.last_sequence);
  Complain(audit_.failure());
}

int64_t StoreCluster::messages_refused() const {
  int64_t refused = 0;
  for (const auto& node : nodes_) refused += node->refused_messages();
  return refused;
}

}  // namespace trainyard::simulation
