// The calls of the transport over MPI, against what they are said to do, byte by byte.
#include <cstring>
#include <vector>

#include "cases.hpp"

namespace trn::comm::ranks_test {

namespace {

using Bytes = std::vector<std::uint8_t>;

// The byte at `index` of what `rank` has in case `salt`.
std::uint8_t byte_of(int rank, std::int64_t index, int salt) {
  const std::uint64_t h =
      (static_cast<std::uint64_t>(rank) * 1000003 + static_cast<std::uint64_t>(index)) * 2654435761U;
  return static_cast<std::uint8_t>((h >> 9U) + static_cast<std::uint64_t>(salt) * 37);
}
Bytes bytes_of(int rank, std::int64_t count, int salt) {
  Bytes data(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = byte_of(rank, i, salt);
  return data;
}

void broadcasts(Transport& t, const std::vector<std::int64_t>& sizes, Tally& tally) {
  for (const std::int64_t count : sizes) {
    for (int root = 0; root<t.size(); root += count> 100000 ? 3 : 1) {
      Bytes data = t.rank() == root ? bytes_of(root, count, 1) : Bytes(static_cast<std::size_t>(count), 0);
      t.broadcast(root, data.data(), count);
      tally.expect(data == bytes_of(root, count, 1), fmt::format("broadcast of {} bytes from {}", count, root),
                   t.rank());
    }
  }
}

void gathers(Transport& t, const std::vector<std::int64_t>& sizes, Tally& tally) {
  for (const std::int64_t count : sizes) {
    const Bytes mine = bytes_of(t.rank(), count, 2);
    Bytes all(static_cast<std::size_t>(count * t.size()), 0), wanted;
    t.all_gather(mine.data(), count, all.data());
    for (int r = 0; r < t.size(); ++r) {
      const Bytes part = bytes_of(r, count, 2);
      wanted.insert(wanted.end(), part.begin(), part.end());
    }
    tally.expect(all == wanted, fmt::format("all_gather of {} bytes each", count), t.rank());
  }
}

// Rank f sends (7 f + 3 t) % 5 * scale bytes to rank t: many pairs have nothing to say.
void exchanges(Transport& t, const std::vector<std::int64_t>& scales, Tally& tally) {
  const auto ranks = static_cast<std::size_t>(t.size());
  for (const std::int64_t scale : scales) {
    const auto count = [&](int f, int to) { return std::int64_t{(7 * f + 3 * to) % 5} * scale; };
    std::vector<std::int64_t> out(ranks), out_at(ranks), in(ranks), in_at(ranks);
    Bytes send;
    std::int64_t total = 0;
    for (int r = 0; r < t.size(); ++r) {
      const auto i = static_cast<std::size_t>(r);
      out[i] = count(t.rank(), r);
      in[i] = count(r, t.rank());
      out_at[i] = static_cast<std::int64_t>(send.size()) + 3;  // gaps between the parts
      send.resize(send.size() + 3);
      const Bytes part = bytes_of(t.rank() * 100 + r, out[i], 3);
      send.insert(send.end(), part.begin(), part.end());
      in_at[i] = total + 2;
      total += in[i] + 2;
    }
    Bytes receive(static_cast<std::size_t>(total), 0xee), wanted = receive;
    t.all_to_all(send.data(), out, out_at, receive.data(), in, in_at);
    for (int r = 0; r < t.size(); ++r) {
      const auto i = static_cast<std::size_t>(r);
      const Bytes part = bytes_of(r * 100 + t.rank(), in[i], 3);
      std::copy(part.begin(), part.end(), wanted.begin() + in_at[i]);
    }
    tally.expect(receive == wanted, fmt::format("all_to_all, unit {} bytes", scale), t.rank());
  }
}

void pairs(Transport& t, const std::vector<std::int64_t>& sizes, Tally& tally) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() - 1 + t.size()) % t.size();
  for (const std::int64_t count : sizes) {
    // Around the ring; what goes on is a byte longer on even ranks.
    const std::int64_t out = count + (t.rank() % 2), in = count + (previous % 2);
    const Bytes send = bytes_of(t.rank(), out, 4);
    Bytes receive(static_cast<std::size_t>(in), 0);
    t.send_receive(next, send.data(), out, previous, receive.data(), in);
    tally.expect(receive == bytes_of(previous, in, 4), fmt::format("send_receive of {} bytes", count), t.rank());
    if (t.size() < 2) continue;
    // From the last rank to the first only; the others do not call.
    if (t.rank() == t.size() - 1) t.send_receive(0, send.data(), out, -1, nullptr, 0);
    if (t.rank() == 0) {
      t.send_receive(-1, nullptr, 0, t.size() - 1, receive.data(), in);
      tally.expect(receive == bytes_of(previous, in, 4), fmt::format("a message of {} bytes", count), t.rank());
    }
  }
}

void all_calls(Transport& t, const std::vector<std::int64_t>& sizes, Tally& tally) {
  broadcasts(t, sizes, tally);
  gathers(t, sizes, tally);
  exchanges(t, sizes, tally);
  pairs(t, sizes, tally);
  t.barrier();
}

}  // namespace

void transport_cases(const Communicator& world, std::int64_t chunk_bytes, Tally& tally) {
  const Communicator group = mpi(MpiOptions{0, chunk_bytes});
  Transport& t = group.transport();
  tally.expect(t.rank() == world.rank() && t.size() == world.size(), "rank and size", t.rank());
  all_calls(t, {0, 1, 7, 999, 1000, 1001, 5000}, tally);
  if (chunk_bytes > 100000) all_calls(t, {65536, 65537, 262144 * 3 + 5}, tally);

  // Parts by colour, any number; the order in a part is that of (key, rank), here backwards.
  const auto part = t.split(t.rank() % 3 * 1000 - 1000, -t.rank());
  int members = 0, after = 0;
  for (int r = 0; r < t.size(); ++r) {
    members += r % 3 == t.rank() % 3 ? 1 : 0;
    after += r % 3 == t.rank() % 3 && r > t.rank() ? 1 : 0;
  }
  tally.expect(part->size() == members && part->rank() == after, "split: rank and size", t.rank());
  all_calls(*part, {0, 5, 1003}, tally);
  // A part of a part, of one rank; and the whole group still works.
  const auto alone = part->split(part->rank(), 0);
  tally.expect(alone->size() == 1 && alone->rank() == 0, "a part of one", t.rank());
  all_calls(*alone, {0, 9}, tally);
  all_calls(t, {33}, tally);
}

void mismatch_cases(const Communicator& world, Tally& tally) {
  Transport& t = world.transport();
  const int last = t.size() - 1;
  const auto says = [&](const char* operation, std::vector<std::int64_t> values, const std::string& wanted) {
    std::string message;
    try {
      t.check({operation, values});
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    tally.expect(t.size() == 1 ? message.empty() : message.find(wanted) != std::string::npos,
                 fmt::format("'{}' has no '{}'", message, wanted), t.rank());
  };
  const bool odd = t.rank() == last;
  const std::string rank = fmt::format("rank {} is in ", last);
  says("broadcast", {1, odd ? 13 : 12, 0}, rank + "broadcast(1, 13, 0)");
  says("broadcast", {1, 12, odd ? last : 0}, rank + "broadcast(1, 12, ");
  says(odd ? "all_gather" : "broadcast", {1, 12, 0}, "rank 0 is in broadcast(1, 12, 0)");
  std::vector<std::int64_t> many(70, 1);
  many[69] = odd ? 2 : 1;
  says("dist::Array", many, "1, 2), call");
  // A barrier is compared like everything else, and neither hangs nor lets anybody through.
  if (t.size() > 1) {
    std::string message;
    try {
      if (odd) {
        t.check({"sum", std::vector<std::int64_t>{1}});
      } else {
        t.barrier();
      }
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    tally.expect(message.find("rank 0 is in barrier") != std::string::npos, fmt::format("barrier: '{}'", message),
                 t.rank());
  }
  // After a disagreement the group goes on.
  t.barrier();
}

void large_case(const Communicator& world, Tally& tally) {
  constexpr std::int64_t kBytes = 3'000'000'017;
  Bytes data(kBytes, static_cast<std::uint8_t>(world.rank() == 0 ? 0x5a : 0));
  if (world.rank() == 0) data[kBytes - 1] = 0x77;
  if (world.rank() == 0) data[(std::int64_t{1} << 31) + 1] = 0x33;
  world.transport().broadcast(0, data.data(), kBytes);
  tally.expect(data[0] == 0x5a && data[kBytes - 1] == 0x77 && data[(std::int64_t{1} << 31) + 1] == 0x33,
               "3 GB: chosen bytes", world.rank());
  std::int64_t filled = 0;
  for (const std::uint8_t b : data) filled += b == 0x5a ? 1 : 0;
  tally.expect(filled == kBytes - 2, "3 GB: all bytes", world.rank());
}

}  // namespace trn::comm::ranks_test
