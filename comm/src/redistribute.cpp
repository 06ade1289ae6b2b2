// Redistribution: pack what goes to each rank, one all-to-all, unpack. What stays on a rank is copied straight. Parts
// on a device pass through host memory whole, one copy each way.
#include <algorithm>
#include <numeric>
#include <trn/comm/matrix.hpp>

#include "clock.hpp"
#include "staging.hpp"

namespace trn::dist::detail {
namespace {

using comm::detail::Bytes;

// The order of a move's elements on the way, which both sides know: that of the sender's memory for matrices.
Strides wire_strides(const Move& move) {
  const bool by_columns = move.extent.size() == 2 && move.from_strides[0] < move.from_strides[1];
  return by_columns ? column_major_strides(move.extent) : row_major_strides(move.extent);
}

void copy_box(const std::byte* from, const Strides& from_strides, std::byte* to, const Strides& to_strides,
              const Shape& extent, std::int64_t size) {
  const Executor host = Executor::host();
  trn::detail::copy_elements({&host, const_cast<std::byte*>(from), &extent, &from_strides},
                             {&host, to, &extent, &to_strides}, size);
}

}  // namespace

void redistribute(const Communicator& group, const std::vector<Move>& moves, const Bytes& from, const Bytes& to) {
  const std::int64_t size = size_bytes(from.dtype);
  const int me = group.rank();
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::int64_t> send_bytes(ranks, 0), send_offsets(ranks, 0), receive_bytes(ranks, 0),
      receive_offsets(ranks, 0);
  for (const Move& move : moves) {
    if (move.from == me && move.to == me) continue;
    if (move.from == me) send_bytes[static_cast<std::size_t>(move.to)] += move.elements() * size;
    if (move.to == me) receive_bytes[static_cast<std::size_t>(move.from)] += move.elements() * size;
  }
  for (std::size_t r = 1; r < ranks; ++r) {
    send_offsets[r] = send_offsets[r - 1] + send_bytes[r - 1];
    receive_offsets[r] = receive_offsets[r - 1] + receive_bytes[r - 1];
  }
  const auto block = [](std::int64_t bytes) {
    return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  };
  const auto packed = block(send_offsets.back() + send_bytes.back());
  const auto arrived = block(receive_offsets.back() + receive_bytes.back());
  const comm::detail::Staged source(from), target(to);
  if (source.bytes() > 0) source.load();
  std::int64_t at = 0;  // moves are in the order of receivers
  for (const Move& move : moves) {
    if (move.from != me) continue;
    const std::byte* first = source.data() + move.from_offset * size;
    if (move.to == me) {
      copy_box(first, move.from_strides, target.data() + move.to_offset * size, move.to_strides, move.extent, size);
    } else {
      copy_box(first, move.from_strides, packed.get() + at, wire_strides(move), move.extent, size);
      at += move.elements() * size;
    }
  }
  group.transport().all_to_all(packed.get(), send_bytes, send_offsets, arrived.get(), receive_bytes, receive_offsets);
  at = 0;  // and in the order of senders
  for (const Move& move : moves) {
    if (move.to != me || move.from == me) continue;
    copy_box(arrived.get() + at, wire_strides(move), target.data() + move.to_offset * size, move.to_strides,
             move.extent, size);
    at += move.elements() * size;
  }
  if (target.bytes() > 0) target.store();
  // What goes to the host, or comes from there, is no exchange between devices.
  const bool devices = from.executor.family() == Family::Device && to.executor.family() == Family::Device;
  const auto total = [](const std::vector<std::int64_t>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
  };
  comm::detail::spend_time(group, tile::CollectiveKind::AllToAll,
                           devices ? std::max(total(send_bytes), total(receive_bytes)) : -1);
}

namespace {

void require_ranks(const Communicator& group, int ranks) {
  require(ranks <= group.size(), "distribution: over {} ranks, in a group of {}", ranks, group.size());
}

}  // namespace

BlockCyclic agreed(const Communicator& group, DType dtype, const BlockCyclic& d) {
  group.check(
      "dist::Matrix(type, rows, columns, row_block, column_block, grid rows, grid columns)",
      {static_cast<std::int64_t>(dtype), d.rows, d.columns, d.row_block, d.column_block, d.grid.rows, d.grid.columns});
  d.validate();
  require_ranks(group, d.grid.size());
  return d;
}

Boxes agreed(const Communicator& group, DType dtype, Boxes d) {
  std::vector<std::int64_t> said{static_cast<std::int64_t>(dtype), static_cast<std::int64_t>(d.shape.size())};
  said.insert(said.end(), d.shape.begin(), d.shape.end());
  for (const Boxes::Box& box : d.boxes) {
    said.insert(said.end(), box.begin.begin(), box.begin.end());
    said.insert(said.end(), box.extent.begin(), box.extent.end());
  }
  group.transport().check({"dist::Array(type, rank)", said});
  d.validate();
  require_ranks(group, d.ranks());
  return d;
}

}  // namespace trn::dist::detail
