#include "controller/http/route_parameters.h"

namespace trainyard::controller::http {

using enum ParameterType;

Parameter JobInPath() {
  return {.name = "job",
          .doc =
              "Number or name of the job, or `@last` for the newest job. A name that several jobs "
              "have refers to the newest of them.",
          .in_path = true};
}

Parameter NodeInPath() {
  return {.name = "node", .doc = "Id or name of the node.", .in_path = true};
}

Parameter HistoryHours() {
  return {.name = "hours",
          .type = kInteger,
          .doc = "Length of the history of the GPUs (default: 24).",
          .min = 1,
          .max = 24};
}

Parameter Limit(double max, std::string_view doc) {
  return {.name = "limit", .type = kInteger, .doc = doc, .min = 1, .max = max};
}

Parameter Cursor() {
  return {.name = "cursor",
          .doc = "`next_cursor` of the previous page; leave it out for the first page."};
}

std::vector<Parameter> ExpertsParameters() {
  return {JobInPath(),
          {.name = "step",
           .type = kInteger,
           .doc = "The newest kept record at or before this step; 0 (the default) means the newest "
                  "of all.",
           .max = kLargest}};
}

std::vector<Parameter> ArrayParameters() {
  return {JobInPath(),
          {.name = "order",
           .type = kEnum,
           .doc = "Sort order of the elements.",
           .values = "trainyard.v1.ArrayOrder"},
          {.name = "reverse", .type = kBoolean, .doc = "Reverses the order."},
          {.name = "offset",
           .type = kInteger,
           .doc = "Number of elements to skip (default: 0).",
           .max = kLargest},
          Limit(10'000, "Maximum number of elements (default: 100).")};
}

Parameter Fields(std::string_view doc) { return {.name = "fields", .doc = doc, .list = true}; }

std::vector<Parameter> JobListParameters() {
  return {
      {.name = "states",
       .type = kEnum,
       .doc = "Only jobs in these states.",
       .values = "trainyard.v1.JobState",
       .list = true},
      {.name = "user", .doc = "Only jobs of this user."},
      {.name = "name", .doc = "Only jobs of exactly this name."},
      {.name = "text",
       .doc =
           "Only jobs whose number, name, user or description contains this text, ignoring case."},
      {.name = "order",
       .type = kEnum,
       .doc = "Sort order of the jobs.",
       .values = "trainyard.v1.JobOrder"},
      {.name = "reverse", .type = kBoolean, .doc = "Reverses the order."},
      Limit(1000, "Maximum number of jobs per page (default: 100)."),
      Cursor(),
      Fields(kListFields)};
}

std::vector<Parameter> SeriesParameters() {
  return {JobInPath(),
          {.name = "keys",
           .doc = "Names of series, at most 64, such as `loss,grad_norm`.",
           .list = true},
          {.name = "key",
           .doc = "Name of a series to add to those in `keys`. Use it for a name that contains a "
                  "comma. May be repeated.",
           .repeated = true},
          {.name = "x",
           .type = kEnum,
           .doc = "Quantity on the x axis. It also sets the unit of `from` and `to`.",
           .values = "trainyard.v1.SeriesAxis"},
          {.name = "from",
           .type = kInteger,
           .doc = "Start of the range on the x axis; 0 means no limit.",
           .max = kLargest},
          {.name = "to",
           .type = kInteger,
           .doc = "End of the range on the x axis; 0 means no limit.",
           .max = kLargest},
          {.name = "buckets",
           .type = kInteger,
           .doc = "Maximum number of buckets. Each bucket replaces several points by their min, "
                  "max and last value. 0 (the default) returns every point.",
           .max = 10000},
          {.name = "smooth",
           .type = kNumber,
           .doc = "Weight of the earlier points in an exponential moving average, at least 0 and "
                  "below 1. 0 (the default) returns no average.",
           .max = 0.999999},
          {.name = "attempts",
           .type = kEnum,
           .doc = "`merged` returns one curve, with the newest attempt at each step. `all` also "
                  "returns the parts of older attempts that a newer attempt has redone.",
           .values = "merged,all"},
          {.name = "attempt",
           .type = kInteger,
           .doc = "Only this attempt; cannot be combined with `attempts`.",
           .min = 1,
           .max = kLargest},
          {.name = "format",
           .type = kEnum,
           .doc = "`csv` returns text/csv: one row per bucket and key.",
           .values = "json,csv"},
          Fields("Only these columns of each series, such as `x,last` (default: all).")};
}

std::vector<Parameter> CompareParameters() {
  std::vector<Parameter> parameters = SeriesParameters();
  std::erase_if(parameters, [](const Parameter& parameter) {
    return parameter.in_path || parameter.name == "attempts" || parameter.name == "attempt" ||
           parameter.name == "format";
  });
  parameters.insert(
      parameters.begin(),
      {.name = "jobs",
       .doc = "Numbers or names of jobs, at most 64. Unknown jobs are listed in `missing`.",
       .list = true});
  return parameters;
}

std::vector<Parameter> LogParameters() {
  return {
      JobInPath(),
      {.name = "ranks", .doc = "Only these ranks, such as `0,8-15`."},
      {.name = "attempt", .type = kInteger, .doc = "Only this attempt.", .min = 1, .max = kLargest},
      {.name = "grep", .doc = "Only lines that contain this text."},
      {.name = "ignore_case", .type = kBoolean, .doc = "`grep` ignores upper and lower case."},
      {.name = "regex", .type = kBoolean, .doc = "`grep` is a regular expression in RE2 syntax."},
      {.name = "level",
       .type = kEnum,
       .doc = "Only lines that state this level or a worse one.",
       .values = "trainyard.v1.LogLevel"},
      {.name = "direction",
       .type = kEnum,
       .doc =
           "`older` returns the lines before the cursor, or the last lines if there is no cursor. "
           "`newer` returns the lines after the cursor, or the first lines if there is no cursor.",
       .values = "trainyard.v1.LogDirection"},
      Limit(5000, "Maximum number of lines per page (default: 500)."),
      {.name = "cursor", .doc = "`older_cursor` or `newer_cursor` of an earlier page."},
      {.name = "offset",
       .type = kInteger,
       .doc = "Start at the line that contains this byte of the rank's output. Requires `attempt`, "
              "and exactly one rank in `ranks`.",
       .max = kLargest},
      {.name = "time",
       .type = kInteger,
       .doc = "Start at the first line at or after this time, in Unix milliseconds.",
       .max = kLargest},
      {.name = "format",
       .type = kEnum,
       .doc = "`text` returns text/plain: only the lines, with control characters as visible "
              "escapes such as \\u001b. `raw` returns application/octet-stream: the lines as "
              "they are stored.",
       .values = "json,text,raw"}};
}

std::vector<Parameter> StreamParameters() {
  return {{.name = "topics",
           .doc = "Topics to subscribe to: `jobs`, `nodes`, `events`, `job:17`, `metrics:17`, "
                  "`logs:17`; at most 64 (default: the first three).",
           .list = true},
          {.name = "last_event_id",
           .type = kInteger,
           .doc = "Same as the header Last-Event-ID. If both are sent, the header is used.",
           .max = kLargest}};
}

}  // namespace trainyard::controller::http
