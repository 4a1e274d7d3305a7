// Small and cacheable answers: gzip, entity tags.
#ifndef TRAINYARD_CONTROLLER_HTTP_CONTENT_H_
#define TRAINYARD_CONTROLLER_HTTP_CONTENT_H_

#include <string>
#include <string_view>

namespace trainyard::controller::http {

// The bytes in gzip's format; `level` 1 (fast) to 9 (small).
std::string Gzip(std::string_view bytes, int level);

// True when the header Accept-Encoding accepts gzip (RFC 9110 12.5.3).
bool AcceptsGzip(std::string_view accept_encoding);

// A weak tag of the body. The time at which it was made (`as_of_ms`) does not count.
std::string EntityTag(std::string_view body);

// True when the header If-None-Match names the tag, or any tag.
bool MatchesTag(std::string_view if_none_match, std::string_view tag);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_CONTENT_H_
