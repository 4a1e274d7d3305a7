#include "proto/text/log_format.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spdlog/logger.h"
#include "spdlog/sinks/ostream_sink.h"

namespace trainyard {
namespace {

using testing::MatchesRegex;

TEST(LogFormatTest, AMessageIsOneLineWithoutControlCharacters) {
  std::ostringstream out;
  spdlog::logger logger("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  logger.set_formatter(LogFormat());
  logger.warn("cannot execute {}", "a\033[2Jb\nc");
  EXPECT_THAT(out.str(), MatchesRegex("[0-9-]+T[0-9:.]+Z warning cannot execute "
                                      "a.u001b.2Jb.u000ac\n"));
}

}  // namespace
}  // namespace trainyard
