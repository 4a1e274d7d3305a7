#include "controller/store/postgres/postgres_error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace trainyard::controller {
namespace {

struct ErrorClass {
  std::string_view prefix;  // The first characters of the SQLSTATE.
  absl::StatusCode code;
  const char* next_step;
};

// The first entry that matches applies, so a code precedes its class.
constexpr std::array kErrorClasses = {
    ErrorClass{"28", absl::StatusCode::kUnauthenticated,
               "check user and password (~/.pgpass, PGPASSFILE or the service file) and the "
               "server's pg_hba.conf"},
    ErrorClass{"F0", absl::StatusCode::kInvalidArgument,
               "correct the connection string or the service file (~/.pg_service.conf, "
               "PGSERVICEFILE)"},
    ErrorClass{"3D000", absl::StatusCode::kNotFound,
               "create the database with `createdb`, or correct its name in the service file"},
    ErrorClass{"3F000", absl::StatusCode::kNotFound,
               "create the schema that search_path names, or correct search_path"},
    ErrorClass{"53300", absl::StatusCode::kResourceExhausted,
               "raise max_connections of the server, or the connection limit of the user or the "
               "database, or close other clients"},
    ErrorClass{"53", absl::StatusCode::kResourceExhausted,
               "free disk space or memory on the database server"},
    ErrorClass{"54", absl::StatusCode::kResourceExhausted, "report this message"},
    ErrorClass{"25006", absl::StatusCode::kPermissionDenied,
               "the server is a replica or read-only; connect to the primary "
               "(target_session_attrs=read-write with a list of hosts)"},
    ErrorClass{"42501", absl::StatusCode::kPermissionDenied,
               "grant the right to the controller's user, or make this user the owner of the "
               "schema"},
    ErrorClass{"26000", absl::StatusCode::kFailedPrecondition,
               "the session lost its prepared statements; connect to the server directly, not "
               "through a connection pooler"},
    ErrorClass{"57014", absl::StatusCode::kUnavailable,
               "the server is overloaded or another session holds a lock; see pg_stat_activity"},
    ErrorClass{"57", absl::StatusCode::kUnavailable, "check the database server and its log"},
    ErrorClass{"55P03", absl::StatusCode::kUnavailable,
               "another session holds a lock; see pg_stat_activity"},
    ErrorClass{"25P03", absl::StatusCode::kUnavailable,
               "the controller was stopped during a transaction, so the server ended its session"},
    ErrorClass{"40", absl::StatusCode::kUnavailable, "a retry may succeed"},
    ErrorClass{"08", absl::StatusCode::kUnavailable, "check the network and the database server"},
    ErrorClass{"58", absl::StatusCode::kUnavailable, "check the disk of the database server"},
    ErrorClass{"XX001", absl::StatusCode::kDataLoss,
               "the database is damaged; restore a backup of the database"},
    ErrorClass{"XX002", absl::StatusCode::kDataLoss, "rebuild the damaged index with REINDEX"},
};

constexpr ErrorClass kNoAnswer{"", absl::StatusCode::kUnavailable,
                               "check that the server runs and that host and port are right"};
constexpr ErrorClass kOther{"", absl::StatusCode::kInternal, "see the log of the database server"};

// Refusals by libpq itself have no SQLSTATE.
struct RefusalText {
  std::string_view text;
  std::string_view sql_state;
};
constexpr std::array kRefusalTexts = {
    RefusalText{"no password supplied", "28P01"},
    RefusalText{"definition of service", "F0000"},
    RefusalText{"service file", "F0000"},
    RefusalText{"root certificate file", "F0000"},
    RefusalText{"session is read-only", "25006"},
    RefusalText{"server is in hot standby mode", "25006"},
};

// Returns the SQLSTATE in a verbose message such as "FATAL:  28P01: password authentication
// failed". The words depend on the server's language, but not the code.
std::string_view VerboseState(std::string_view message) {
  constexpr std::size_t kStateBytes = 5;
  constexpr std::string_view kBefore = ":  ";
  const std::size_t colon = message.find(kBefore);
  if (colon == message.npos) return {};
  const std::string_view rest = message.substr(colon + kBefore.size());
  const std::string_view state = rest.substr(0, kStateBytes);
  const bool is_state = state.size() == kStateBytes && rest.substr(kStateBytes).starts_with(':') &&
                        std::ranges::all_of(state, [](char c) {
                          return absl::ascii_isdigit(c) || absl::ascii_isupper(c);
                        });
  return is_state ? state : std::string_view();
}

std::string_view StateOf(const PostgresFailure& failure) {
  if (!failure.sql_state.empty()) return failure.sql_state;
  const std::string_view verbose = VerboseState(failure.message);
  if (!verbose.empty()) return verbose;
  const auto* refusal = std::ranges::find_if(kRefusalTexts, [&](const RefusalText& entry) {
    return failure.message.find(entry.text) != std::string::npos;
  });
  return refusal == kRefusalTexts.end() ? std::string_view() : refusal->sql_state;
}

ErrorClass ClassOf(std::string_view sql_state) {
  if (sql_state.empty()) return kNoAnswer;
  const auto* found = std::ranges::find_if(
      kErrorClasses, [&](const ErrorClass& entry) { return sql_state.starts_with(entry.prefix); });
  return found == kErrorClasses.end() ? kOther : *found;
}

}  // namespace

absl::Status PostgresError(const PostgresFailure& failure) {
  const std::string_view sql_state = StateOf(failure);
  const ErrorClass error = ClassOf(sql_state);
  // A verbose message ends with a line that names the server's source file.
  const std::string text = failure.message.substr(0, failure.message.find("\nLOCATION:"));
  const std::string message = absl::StrReplaceAll(absl::StripAsciiWhitespace(text), {{"\n", " "}});
  return {error.code,
          absl::StrCat(failure.database, ": cannot ", failure.action, ": ", message,
                       failure.sql_state.empty() ? "" : absl::StrCat(" (", failure.sql_state, ")"),
                       "; ", error.next_step)};
}

}  // namespace trainyard::controller
