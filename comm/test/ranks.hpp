// What tests of several ranks share.
#pragma once

#include <gtest/gtest.h>

#include <trn/comm/collectives.hpp>
#include <trn/comm/group.hpp>

namespace trn::comm::testing_support {

inline constexpr int kRankCounts[] = {1, 2, 3, 4, 6, 7, 12};

inline Group host_group(int ranks) {
  return Group(std::vector<Executor>(static_cast<std::size_t>(ranks), Executor::host()), "host");
}

// The program on so many ranks of the host.
inline void on_ranks(int ranks, const std::function<void(const Communicator&)>& program,
                     const RunOptions& options = {.watchdog_seconds = 60}) {
  run(
      host_group(ranks), [&](const Communicator& c, const Executor&) { program(c); }, options);
}

template <class T> View<T> view_of(std::vector<T>& values) {
  return View<T>(Executor::host(), values.data(), {static_cast<std::int64_t>(values.size())});
}
template <class T> View<const T> view_of(const std::vector<T>& values) {
  return View<const T>(Executor::host(), values.data(), {static_cast<std::int64_t>(values.size())});
}

}  // namespace trn::comm::testing_support
