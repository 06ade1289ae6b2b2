// Collectives that move elements: check what all ranks say, stage what is not packed host memory, let the transport
// move bytes.
#include <trn/comm/collectives.hpp>

#include <fmt/format.h>

#include "clock.hpp"
#include "staging.hpp"

namespace trn::comm {
namespace detail {
namespace {

std::string first_of(std::initializer_list<std::string> problems) {
  for (const std::string& problem : problems) {
    if (!problem.empty()) return problem;
  }
  return "";
}

// What has modelled time: the bytes of a device's memory; -1 for the host's, which is not modelled.
std::int64_t device_bytes(const Bytes& view) { return view.executor.family() == Family::Device ? bytes_of(view) : -1; }

std::int64_t type_of(const Bytes& view) { return static_cast<std::int64_t>(view.dtype); }

std::string leading_problem(const char* name, const Bytes& view, int ranks) {
  if (!view.shape.empty() && view.shape[0] == ranks) return "";
  return fmt::format("{} has the shape {}; its first extent must be {}, the number of ranks", name,
                     to_string(view.shape), ranks);
}

std::string counts_problem(const char* name, const Bytes& view, const std::vector<std::int64_t>& counts, int ranks) {
  if (view.shape.size() != 1) return fmt::format("{} has the shape {}; rank 1 is needed", name, to_string(view.shape));
  if (static_cast<int>(counts.size()) != ranks) {
    return fmt::format("{} has {} counts for {} ranks", name, counts.size(), ranks);
  }
  std::int64_t left = view.shape[0];
  for (const std::int64_t count : counts) {
    if (count < 0) return fmt::format("{} has a count of {}", name, count);
    left -= std::min(count, left + 1);
  }
  if (left != 0) return fmt::format("the counts of {} do not add up to its {} elements", name, view.shape[0]);
  return "";
}

// Offsets of counts that follow each other, in bytes.
struct Places {
  Places(const std::vector<std::int64_t>& counts, std::int64_t size) : bytes(counts), offsets(counts) {
    std::int64_t at = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      bytes[r] = counts[r] * size;
      offsets[r] = at;
      at += bytes[r];
    }
  }
  std::vector<std::int64_t> bytes, offsets;
};

}  // namespace

void broadcast(const Communicator& group, int root, const Bytes& view) {
  const bool is_root = group.rank() == root;
  const std::int64_t values[] = {type_of(view), count_of(view), root};
  agree_on(
      group, "broadcast(type, count, root)", values,
      first_of(
          {root < 0 || root >= group.size() ? fmt::format("root is {}; there are {} ranks", root, group.size()) : "",
           is_root ? source_problem("the view", view) : target_problem("the view", view)}),
      count_of(view) > 0 && group.size() > 1);
  if (count_of(view) == 0 || group.size() == 1) return;
  const Staged staged(view);
  if (is_root) staged.load();
  group.transport().broadcast(root, staged.data(), staged.bytes());
  if (!is_root) staged.store();
  spend_time(group, tile::CollectiveKind::Broadcast, device_bytes(view));
}

void all_gather(const Communicator& group, const Bytes& mine, const Bytes& all) {
  Shape wanted{group.size()};
  wanted.insert(wanted.end(), mine.shape.begin(), mine.shape.end());
  const std::int64_t values[] = {type_of(mine), count_of(mine)};
  agree_on(group, "all_gather(type, count)", values,
           first_of({all.shape == wanted ? ""
                                         : fmt::format("the result has the shape {}; it must be {}",
                                                       to_string(all.shape), to_string(wanted)),
                     source_problem("the source", mine), target_problem("the result", all)}),
           count_of(mine) > 0);
  if (count_of(mine) == 0) return;
  const Staged to(all);
  // In place is legal: a part that lies where its copy goes.
  const bool moves_into_itself =
      meet(mine, all) &&
      static_cast<std::byte*>(mine.data) != static_cast<std::byte*>(all.data) + group.rank() * bytes_of(mine);
  const Staged from(mine, moves_into_itself);
  from.load();
  group.transport().all_gather(from.data(), from.bytes(), to.data());
  to.store();
  spend_time(group, tile::CollectiveKind::AllGather, device_bytes(all));
}

void all_to_all(const Communicator& group, const Bytes& send, const Bytes& receive) {
  const std::int64_t values[] = {type_of(send), count_of(send)};
  agree_on(group, "all_to_all(type, count)", values,
           first_of({leading_problem("the source", send, group.size()),
                     send.shape == receive.shape
                         ? ""
                         : fmt::format("the source has the shape {} and the result {}; they must be equal",
                                       to_string(send.shape), to_string(receive.shape)),
                     source_problem("the source", send), target_problem("the result", receive)}),
           count_of(send) > 0);
  if (count_of(send) == 0) return;
  const Staged from(send, meet(send, receive)), to(receive);
  from.load();
  const std::int64_t each = from.bytes() / group.size();
  const Counts counts(group.size(), each, each);
  group.transport().all_to_all(from.data(), counts.bytes, counts.offsets, to.data(), counts.bytes, counts.offsets);
  to.store();
  spend_time(group, tile::CollectiveKind::AllToAll, device_bytes(send));
}

void all_to_all_v(const Communicator& group, const Bytes& send, const std::vector<std::int64_t>& send_counts,
                  const Bytes& receive, const std::vector<std::int64_t>& receive_counts) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::int64_t values[] = {type_of(send)};
  agree_on(group, "all_to_all_v(type)", values,
           first_of({counts_problem("the source", send, send_counts, group.size()),
                     counts_problem("the result", receive, receive_counts, group.size()),
                     source_problem("the source", send), target_problem("the result", receive)}),
           true);
  // Everybody learns all counts, and so finds the same pair that disagrees.
  std::vector<std::int64_t> mine(send_counts), all(2 * ranks * ranks);
  mine.insert(mine.end(), receive_counts.begin(), receive_counts.end());
  group.transport().all_gather(mine.data(), static_cast<std::int64_t>(mine.size() * sizeof(std::int64_t)), all.data());
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const std::int64_t sent = all[from * 2 * ranks + to], expected = all[to * 2 * ranks + ranks + from];
      require(sent == expected, "comm: all_to_all_v: rank {} sends {} elements to rank {}, which expects {}", from,
              sent, to, expected);
    }
  }
  const Staged from(send, meet(send, receive)), to(receive);
  if (from.bytes() > 0) from.load();
  const std::int64_t size = size_bytes(send.dtype);
  const Places sent(send_counts, size), received(receive_counts, size);
  group.transport().all_to_all(from.data(), sent.bytes, sent.offsets, to.data(), received.bytes, received.offsets);
  if (to.bytes() > 0) to.store();
  spend_time(group, tile::CollectiveKind::AllToAll, std::max(device_bytes(send), device_bytes(receive)));
}

void send_receive(const Communicator& group, int to, const Bytes& send, int from, const Bytes& receive) {
  const auto check_side = [&](int rank, const std::string& problem) {
    require(rank >= -1 && rank < group.size(), "comm: send_receive: rank {} of {}; -1 is nobody", rank, group.size());
    require(rank < 0 || problem.empty(), "comm: send_receive: {}", problem);
  };
  check_side(to, to < 0 ? "" : source_problem("the source", send));
  check_side(from, from < 0 ? "" : target_problem("the result", receive));
  const Bytes nothing{Executor::host(), nullptr, {0}, {1}, send.dtype};
  const Bytes& gives = to < 0 ? nothing : send;
  const Bytes& takes = from < 0 ? nothing : receive;
  const Staged out(gives, meet(gives, takes)), in(takes);
  if (out.bytes() > 0) out.load();
  const auto says = [](const Bytes& view) {
    return static_cast<std::uint64_t>(type_of(view)) << 56 ^ static_cast<std::uint64_t>(count_of(view));
  };
  group.transport().exchange({to, out.data(), out.bytes(), says(gives)}, {from, in.data(), in.bytes(), says(takes)});
  if (in.bytes() > 0) in.store();
  spend_time_with(group, to, device_bytes(gives), from, device_bytes(takes));
}

}  // namespace detail

void barrier(const Communicator& group) {
  group.transport().barrier();
  detail::spend_time(group, tile::CollectiveKind::Barrier, 0);
}

}  // namespace trn::comm
