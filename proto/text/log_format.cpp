#include "proto/text/log_format.h"

#include <ctime>
#include <string>
#include <string_view>

#include "proto/text/printable.h"
#include "spdlog/pattern_formatter.h"

namespace trainyard {
namespace {

constexpr char kTextFlag = '*';

class PrintableText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string text = PrintableLine(
        std::string_view(message.payload.data(), message.payload.size()), /*colors=*/false);
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableText>();
  }
};

}  // namespace

std::unique_ptr<spdlog::formatter> LogFormat() {
  auto format = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  format->add_flag<PrintableText>(kTextFlag).set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %*");
  return format;
}

}  // namespace trainyard
