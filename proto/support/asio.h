// Includes Boost.Asio and works around a bug: Boost 1.74 uses std::exchange without including
// <utility>, and g++ 12 rejects that in C++20 mode (chriskohlhoff/asio#944).
#ifndef TRAINYARD_PROTO_SUPPORT_ASIO_H_
#define TRAINYARD_PROTO_SUPPORT_ASIO_H_

#include <utility>

#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/thread_pool.hpp"

#endif  // TRAINYARD_PROTO_SUPPORT_ASIO_H_
