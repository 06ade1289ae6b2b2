// Exact reductions over ranks. Short ones are gathered by everybody; of long ones each rank reduces its share and all
// gather the shares, which moves two times the data instead of as many times as there are ranks.
#include <fmt/format.h>

#include <algorithm>

#include "clock.hpp"
#include "staging.hpp"

namespace trn::comm::detail {
namespace {

constexpr std::int64_t kShort = 4096;  // bytes

using Block = std::vector<std::byte>;

// `parts` has one share after another, from each rank; the result is in the first.
void combine_parts(Reduction reduction, DType dtype, std::int64_t count, int ranks, std::byte* parts) {
  const std::int64_t bytes = count * size_bytes(dtype);
  for (int r = 1; r < ranks; ++r) combine(reduction, dtype, count, parts, parts + r * bytes);
}

void reduce_short(const Communicator& group, Reduction reduction, DType dtype, std::int64_t count, std::byte* data) {
  const std::int64_t bytes = count * size_bytes(dtype);
  Block all(static_cast<std::size_t>(bytes * group.size()));
  group.transport().all_gather(data, bytes, all.data());
  combine_parts(reduction, dtype, count, group.size(), all.data());
  std::copy_n(all.data(), bytes, data);
}

void reduce_long(const Communicator& group, Reduction reduction, DType dtype, std::int64_t count, std::byte* data) {
  const std::int64_t size = size_bytes(dtype), ranks = group.size();
  const std::int64_t share = (count + ranks - 1) / ranks;
  const auto share_of = [&](std::int64_t r) { return std::clamp<std::int64_t>(count - r * share, 0, share); };
  const std::int64_t mine = share_of(group.rank());
  Counts out(group.size(), 0, share * size), in(group.size(), mine * size, mine * size);
  for (int r = 0; r < group.size(); ++r) out.bytes[static_cast<std::size_t>(r)] = share_of(r) * size;
  Block parts(static_cast<std::size_t>(std::max(mine * ranks, share) * size));
  group.transport().all_to_all(data, out.bytes, out.offsets, parts.data(), in.bytes, in.offsets);
  combine_parts(reduction, dtype, mine, group.size(), parts.data());
  Block all(static_cast<std::size_t>(share * ranks * size));
  group.transport().all_gather(parts.data(), share * size, all.data());
  std::copy_n(all.data(), count * size, data);
}

const char* operation_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
      return "sum(type, count)";
    case Reduction::Minimum:
      return "minimum(type, count)";
    case Reduction::Maximum:
      return "maximum(type, count)";
  }
  return "";
}

}  // namespace

void all_reduce(const Communicator& group, Reduction reduction, const Bytes& view) {
  const std::int64_t count = count_of(view);
  const std::int64_t values[] = {static_cast<std::int64_t>(view.dtype), count};
  agree_on(group, operation_of(reduction), values, target_problem("the view", view), count > 0 && group.size() > 1);
  if (count == 0) return;
  const Staged staged(view);
  staged.load();
  settle(reduction, view.dtype, count, staged.data());
  if (group.size() > 1) {
    (staged.bytes() <= kShort ? reduce_short : reduce_long)(group, reduction, view.dtype, count, staged.data());
  }
  staged.store();
  spend_time(group, tile::CollectiveKind::AllReduce, staged.bytes());
}

void reduce_scatter(const Communicator& group, const Bytes& all, const Bytes& mine) {
  Shape wanted{group.size()};
  wanted.insert(wanted.end(), mine.shape.begin(), mine.shape.end());
  const std::int64_t values[] = {static_cast<std::int64_t>(all.dtype), count_of(mine)};
  std::string problem = source_problem("the source", all);
  if (problem.empty()) problem = target_problem("the result", mine);
  if (all.shape != wanted) {
    problem = fmt::format("the source has the shape {}; it must be {}", to_string(all.shape), to_string(wanted));
  }
  agree_on(group, "reduce_scatter(type, count)", values, problem, count_of(mine) > 0);
  const std::int64_t count = count_of(mine), bytes = bytes_of(mine);
  if (count == 0) return;
  const Staged from(all), to(mine);
  from.load();
  Block parts(static_cast<std::size_t>(bytes * group.size()));
  const Counts counts(group.size(), bytes, bytes);
  group.transport().all_to_all(from.data(), counts.bytes, counts.offsets, parts.data(), counts.bytes, counts.offsets);
  combine_parts(Reduction::Sum, all.dtype, count, group.size(), parts.data());
  std::copy_n(parts.data(), bytes, to.data());
  to.store();
  spend_time(group, tile::CollectiveKind::ReduceScatter, from.bytes());
}

}  // namespace trn::comm::detail
