// Text of Boost.Beast as std::string.
#ifndef TRAINYARD_CONTROLLER_HTTP_BEAST_TEXT_H_
#define TRAINYARD_CONTROLLER_HTTP_BEAST_TEXT_H_

#include <string>

#include "boost/beast/core/string.hpp"

namespace trainyard::controller::http {

inline std::string ToText(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_BEAST_TEXT_H_
