// Fuzzes the paths and queries of HTTP requests.
#include <string_view>

#include "controller/http/content.h"
#include "controller/http/guard.h"
#include "controller/http/stream_feed.h"
#include "controller/http/target.h"
#include "proto/text/utf8.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::controller::http;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto [path, query] = SplitTarget(input);
  for (const char* method : {"GET", "POST", "HEAD"}) {
    auto match = MatchRoute(method, path);
    if (!match.ok() || match->route == nullptr) continue;
    if (!AddQuery(query, *match->route, match->parameters).ok()) continue;
    for (const Parameter& parameter : match->route->parameters) {
      FUZZ_EXPECT(!trainyard::FirstInvalidUtf8(match->parameters.Text(parameter.name)).has_value());
      const bool bounded =
          parameter.type == ParameterType::kInteger && parameter.min < parameter.max;
      if (!bounded || !match->parameters.Has(parameter.name)) continue;
      const auto number = static_cast<double>(match->parameters.Integer(parameter.name));
      FUZZ_EXPECT(number >= parameter.min && number <= parameter.max);
    }
    (void)ParseTopics(match->parameters.List("topics"));
  }
  const std::string text(input);
  const auto ranks = ParseRanks(text);
  FUZZ_EXPECT(!ranks.ok() || ranks->size() <= 16'384);
  (void)AcceptsGzip(text);
  (void)MatchesTag(text, "W/\"1\"");
  (void)IsOwnHost(text, {"trainhost"});
  return 0;
}
