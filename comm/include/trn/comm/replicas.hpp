// Replicas: many independent runs of one program, Monte Carlo walks or the members of an ensemble, shared among the
// ranks of a group in one call.
//
//   // 1000 members of three numbers each, with a stream of random numbers of their own
//   const auto all = comm::replicas<double>(group, 1000, 3, [](std::int64_t member, std::span<double> result) { ... });
//
// What a member computes depends on its number alone (rand::Generator(seed, {.stream = member}), for one), so the
// results have the same bits for every number of ranks. Rank r has members r, r + ranks, ...: members next to each
// other, which often cost alike, lie on different ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <trn/comm/collectives.hpp>
#include <trn/comm/together.hpp>
#include <trn/core/error.hpp>
#include <trn/core/shape.hpp>

namespace trn::comm {

// run(member, result) for members 0 to count - 1, each on one rank; `result` has `width` elements, which are zero
// before. All results, member by member, on every rank. Collective; run itself must not be. Where runs throw, every
// rank throws what the lowest rank with an exception threw first, and no result is given.
template <Element T, class F>
[[nodiscard]] std::vector<T> replicas(const Communicator& group, std::int64_t count, std::int64_t width, const F& run) {
  group.check("comm.replicas(type, count, width)", {static_cast<std::int64_t>(dtype_of<T>), count, width});
  require(count >= 0 && width >= 1, "comm.replicas: {} members of {} elements; give at least 0 and 1", count, width);
  const std::int64_t ranks = group.size(), each = count / ranks + (count % ranks != 0 ? 1 : 0);
  (void)element_count({ranks, each, width});  // refuses what overflows
  const auto size = [&](std::int64_t members) { return static_cast<std::size_t>(members * width); };
  std::vector<T> mine(size(each)), gathered(size(each * ranks)), all(size(count));
  together(group, [&] {
    for (std::int64_t at = 0, member = group.rank(); member < count; ++at, member += ranks)
      run(member, std::span<T>(mine.data() + size(at), size(1)));
  });
  if (count == 0) return all;
  const Executor host = Executor::host();
  all_gather(group, View<const T>(host, mine.data(), {each * width}),
             View<T>(host, gathered.data(), {ranks, each * width}));
  for (std::int64_t member = 0; member < count; ++member)
    std::copy_n(gathered.data() + size(member % ranks * each + member / ranks), width, all.data() + size(member));
  return all;
}

}  // namespace trn::comm
