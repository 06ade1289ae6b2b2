// Collective operations made of messages.
#include "transport.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "position.hpp"

namespace trn::comm::detail {

namespace {

// Below: fewest rounds. Above: every link carries every byte once.
constexpr std::int64_t kShort = std::int64_t{1} << 16U;
constexpr std::int64_t kPiece = std::int64_t{1} << 18U;  // of a long broadcast, on its way through the chain
constexpr int kWindow = 64;                              // partners of an all-to-all at a time

std::uint64_t mixed(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 32U);
}

std::uint64_t hash_of(const Signature& signature, std::uint64_t call) {
  std::uint64_t h = mixed(0x74726e736369ULL, call);
  for (const char c : signature.operation) h = mixed(h, static_cast<unsigned char>(c));
  for (const std::int64_t v : signature.values) h = mixed(h, static_cast<std::uint64_t>(v));
  return mixed(h, signature.values.size());
}

std::byte* bytes_at(void* data) { return static_cast<std::byte*>(data); }
const std::byte* bytes_at(const void* data) { return static_cast<const std::byte*>(data); }
void copy_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) {
  if (bytes > 0 && from != to) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

MpiTransport::MpiTransport(std::shared_ptr<MpiHandle> group, std::shared_ptr<MpiHandle> job,
                           const MpiSettings& settings)
    : wire_(std::move(group), std::move(job), settings.limit_seconds), settings_(settings) {}

MpiTransport::Extremes MpiTransport::extremes(std::uint64_t mine) {
  Extremes sent{mine, mine}, heard{};
  const int ranks = size();
  for (int distance = 1; distance < ranks; distance *= 2) {
    wire_.receive((rank() - distance % ranks + ranks) % ranks, kCheckTag, &heard, sizeof heard);
    wire_.send((rank() + distance) % ranks, kCheckTag, &sent, sizeof sent);
    wire_.wait();
    sent = {std::min(sent.least, heard.least), std::max(sent.most, heard.most)};
  }
  return sent;
}

void MpiTransport::check(const Signature& signature) {
  ++calls_;
  position().set(rank(), size(), calls_, signature);
  if (!settings_.check || size() == 1) return;
  const Extremes all = extremes(hash_of(signature, calls_));
  if (all.least != all.most) throw_difference(signature);
}

// The first rank that differs from rank 0, and what both said. All ranks come to the same two.
void MpiTransport::throw_difference(const Signature& signature) {
  constexpr std::size_t kText = 1000;
  struct Said {
    std::uint64_t hash;
    char text[kText];
  };
  const std::string text = fmt::format("{}, call {}", text_of(signature), calls_);
  Said mine{hash_of(signature, calls_), {}};
  std::copy_n(text.begin(), std::min(text.size(), kText - 1), mine.text);
  std::vector<Said> all(static_cast<std::size_t>(size()));
  all_gather(&mine, sizeof mine, all.data());
  const auto other = std::find_if(all.begin(), all.end(), [&](const Said& s) { return s.hash != all[0].hash; });
  ensure(other != all.end(), "the ranks of a group differ, and none does");
  throw InvalidArgument(fmt::format("the ranks of a group differ: rank 0 is in {}; rank {} is in {}", all[0].text,
                                    other - all.begin(), other->text));
}

// The comparison is a meeting of all ranks already.
void MpiTransport::barrier() {
  check({"barrier", {}});
  if (!settings_.check) (void)extremes(0);
}

void MpiTransport::chunks(int to, const std::byte* send, std::int64_t send_bytes, int from, std::byte* receive,
                          std::int64_t receive_bytes, Tag tag) {
  const std::int64_t chunk = settings_.chunk_bytes;
  const std::int64_t outgoing = to < 0 ? 0 : std::max<std::int64_t>(1, (send_bytes + chunk - 1) / chunk);
  const std::int64_t incoming = from < 0 ? 0 : std::max<std::int64_t>(1, (receive_bytes + chunk - 1) / chunk);
  for (std::int64_t i = 0; i < std::max(outgoing, incoming); ++i) {
    const std::int64_t at = i * chunk;
    if (i < incoming) wire_.receive(from, tag, receive + at, std::min(chunk, receive_bytes - at));
    if (i < outgoing) wire_.send(to, tag, send + at, std::min(chunk, send_bytes - at));
    wire_.wait();
  }
}

void MpiTransport::send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                                std::int64_t receive_bytes) {
  chunks(to, bytes_at(send), send_bytes, from, bytes_at(receive), receive_bytes, kPairTag);
}

// Three calls of send_receive(); the watchdog shall name this one and not the collective before it.
void MpiTransport::exchange(const Give& give, const Take& take) {
  const std::int64_t values[] = {give.to, take.from};
  position().set(rank(), size(), calls_, {"send_receive(to, from)", values});
  Transport::exchange(give, take);
}

void MpiTransport::broadcast(int root, void* data, std::int64_t bytes) {
  if (size() == 1 || bytes == 0) return;
  if (bytes <= kShort || size() == 2) {
    broadcast_tree(root, bytes_at(data), bytes);
  } else {
    broadcast_chain(root, bytes_at(data), bytes);
  }
}

// Binomial: the ranks counted from the root; number v has it from v without its highest bit.
void MpiTransport::broadcast_tree(int root, std::byte* data, std::int64_t bytes) {
  const int ranks = size(), number = (rank() - root + ranks) % ranks;
  const std::int64_t chunk = settings_.chunk_bytes;
  int highest = 1;
  while (highest * 2 <= number) highest *= 2;
  for (std::int64_t at = 0; at < bytes; at += chunk) {
    const std::int64_t count = std::min(chunk, bytes - at);
    if (number > 0) {
      wire_.receive((number - highest + root) % ranks, kBroadcastTag, data + at, count);
      wire_.wait();
    }
    for (int distance = number == 0 ? 1 : highest * 2; number + distance < ranks; distance *= 2) {
      wire_.send((number + distance + root) % ranks, kBroadcastTag, data + at, count);
    }
    wire_.wait();
  }
}

// Piece by piece from each rank to the next one; while one goes on, the next arrives.
void MpiTransport::broadcast_chain(int root, std::byte* data, std::int64_t bytes) {
  const int ranks = size(), number = (rank() - root + ranks) % ranks;
  const int previous = (rank() - 1 + ranks) % ranks, next = (rank() + 1) % ranks;
  const std::int64_t piece = std::min(kPiece, settings_.chunk_bytes);
  const auto count_at = [&](std::int64_t at) { return std::min(piece, bytes - at); };
  if (number > 0) {
    wire_.receive(previous, kBroadcastTag, data, count_at(0));
    wire_.wait();
  }
  for (std::int64_t at = 0; at < bytes; at += piece) {
    if (number > 0 && at + piece < bytes) {
      wire_.receive(previous, kBroadcastTag, data + at + piece, count_at(at + piece));
    }
    if (number + 1 < ranks) wire_.send(next, kBroadcastTag, data + at, count_at(at));
    wire_.wait();
  }
}

void MpiTransport::all_gather(const void* mine, std::int64_t bytes, void* all) {
  if (bytes == 0) return;
  if (size() > 2 && bytes * size() <= std::min(kShort, settings_.chunk_bytes)) {
    all_gather_short(bytes_at(mine), bytes, bytes_at(all));
  } else {
    all_gather_ring(bytes_at(mine), bytes, bytes_at(all));
  }
}

// Bruck's: after round k a rank has the parts of the 2^(k+1) ranks from its own on.
void MpiTransport::all_gather_short(const std::byte* mine, std::int64_t bytes, std::byte* all) {
  const int ranks = size();
  std::vector<std::byte> parts(static_cast<std::size_t>(bytes * ranks));  // of rank(), rank() + 1, ...
  copy_bytes(mine, parts.data(), bytes);
  for (int have = 1; have < ranks; have *= 2) {
    const int more = std::min(have, ranks - have);
    wire_.receive((rank() + have) % ranks, kGatherTag, parts.data() + have * bytes, more * bytes);
    wire_.send((rank() - have + ranks) % ranks, kGatherTag, parts.data(), more * bytes);
    wire_.wait();
  }
  const std::int64_t front = (ranks - rank()) * bytes;  // bytes up to the part of rank 0
  copy_bytes(parts.data(), all + rank() * bytes, front);
  copy_bytes(parts.data() + front, all, rank() * bytes);
}

void MpiTransport::all_gather_ring(const std::byte* mine, std::int64_t bytes, std::byte* all) {
  const int ranks = size();
  copy_bytes(mine, all + rank() * bytes, bytes);
  for (int step = 1; step < ranks; ++step) {
    const int sent = (rank() - step + 1 + ranks) % ranks, received = (rank() - step + ranks) % ranks;
    chunks((rank() + 1) % ranks, all + sent * bytes, bytes, (rank() - 1 + ranks) % ranks, all + received * bytes, bytes,
           kGatherTag);
  }
}

void MpiTransport::all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                              std::span<const std::int64_t> send_offsets, void* receive,
                              std::span<const std::int64_t> receive_bytes,
                              std::span<const std::int64_t> receive_offsets) {
  const auto me = static_cast<std::size_t>(rank());
  const int ranks = size();
  ensure(send_bytes[me] == receive_bytes[me], "all_to_all: rank {} sends itself {} bytes and expects {}", rank(),
         send_bytes[me], receive_bytes[me]);
  copy_bytes(bytes_at(send) + send_offsets[me], bytes_at(receive) + receive_offsets[me], send_bytes[me]);
  const std::int64_t chunk = settings_.chunk_bytes;
  for (int first = 1; first < ranks; first += kWindow) {
    const int last = std::min(ranks, first + kWindow);
    bool more = true;
    for (std::int64_t at = 0; more; at += chunk) {
      more = false;
      for (int step = first; step < last; ++step) {
        const int from = (rank() - step + ranks) % ranks, to = (rank() + step) % ranks;
        const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
        if (at < receive_bytes[f]) {
          wire_.receive(from, kExchangeTag, bytes_at(receive) + receive_offsets[f] + at,
                        std::min(chunk, receive_bytes[f] - at));
        }
        if (at < send_bytes[t]) {
          wire_.send(to, kExchangeTag, bytes_at(send) + send_offsets[t] + at, std::min(chunk, send_bytes[t] - at));
        }
        more = more || at + chunk < receive_bytes[f] || at + chunk < send_bytes[t];
      }
      wire_.wait();
    }
  }
}

// MPI_Comm_split blocks without a clock. All ranks have just met in the exchange before it, so that it does not wait.
std::shared_ptr<Transport> MpiTransport::split(int color, int key) {
  std::vector<int> mine{color}, all(static_cast<std::size_t>(size()));
  all_gather(mine.data(), sizeof(int), all.data());
  std::sort(all.begin(), all.end());
  const auto dense = static_cast<int>(std::lower_bound(all.begin(), all.end(), color) - all.begin());
  MPI_Comm part = MPI_COMM_NULL;
  require_success(MPI_Comm_split(wire_.comm(), dense, key, &part), "MPI_Comm_split");
  return std::make_shared<MpiTransport>(std::make_shared<MpiHandle>(part), wire_.job(), settings_);
}

}  // namespace trn::comm::detail
