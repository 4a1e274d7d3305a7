// Settings of the controller daemon.
#ifndef TRAINYARD_CONTROLLER_CONTROLLER_OPTIONS_H_
#define TRAINYARD_CONTROLLER_CONTROLLER_OPTIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/access/server_credentials.h"
#include "controller/api/context/hand_over_seat.h"
#include "controller/hooks/hook_rules.h"
#include "controller/http/dashboard.h"
#include "controller/kernel/replayed_state.h"
#include "controller/loop/loop.h"
#include "controller/retention/pruner.h"

namespace trainyard::controller {

struct ControllerOptions {
  // "host:port". With port 0, a free port is used.
  std::string listen = "127.0.0.1:7070";
  // "host:port" by which workers, users and the other controllers name this one. If empty,
  // `listen`.
  std::string advertise;
  std::string data_dir;
  // Connection string of libpq for the database with the stores. If empty, the stores are in
  // SQLite files in data_dir.
  std::string postgres;
  // Continue although a database server has lost acknowledged events (core_options.h,
  // stop_on_lost_events).
  bool accept_lost_events = false;
  // If empty, <data_dir>/checkpoints is used. The path is made absolute.
  std::string checkpoint_root;
  LoopOptions loop;
  // The retention rules, and the pace of the retention thread. The directories in these options are
  // derived from the fields above.
  PrunerOptions retention;
  // Webhooks and command hooks.
  std::vector<HookRule> hooks;
  // REST API, event stream and dashboard. All three are off if the address is empty.
  http::DashboardOptions http;
  // The token that every caller must present or prove to have. If empty, there is no access
  // control.
  std::string token;
  // Path of the token file. The local socket is created in the same directory. If empty, there is
  // no local socket.
  std::string token_file;
  // Allows the members of the controller process's group to use the local socket.
  bool token_for_group = false;
  TlsIdentity tls;
  // Allows a listener without a token or without TLS even if other machines can reach it. All users
  // then see a warning.
  bool insecure = false;
  // Called before each answer to a caller (LeaderGuard::CheckMayAnswer). May be unset.
  std::function<void()> before_answer;
  // Called if a worker has seen a leader of a higher term (LeaderGuard::HigherTermSeen). May be
  // unset.
  std::function<void(int64_t term)> on_higher_term;
  // The state that this controller has rebuilt as a standby. Null if it has none. The start of the
  // controller moves from it.
  std::shared_ptr<ReplayedState> replayed;
  // The leadership that users can hand over. Null if the stores are in files.
  HandOverSeat* hand_over = nullptr;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CONTROLLER_OPTIONS_H_
