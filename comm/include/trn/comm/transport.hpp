// Transport: what moves bytes between the ranks of a group. Host memory only, 64-bit counts, in order. The operations
// of collectives.hpp are made of these five calls and of check(); a transport knows neither types nor distributions.
//
//   self      one rank (comm/src/self.cpp)
//   threads   ranks are threads of this process (group.hpp)
//   mpi       ranks are processes; in the component comm_mpi, the only one that knows MPI
//
// Every call is collective over the group but send_receive. Offsets and sizes are bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <trn/comm/error.hpp>

namespace trn::comm {

// What every rank says about a collective operation before it happens: all have to say the same. The values are
// whatever must be equal: dtype, counts, root, block sizes. printed as "broadcast(float32, 12, root 0)" on a mismatch.
// An operation may name its values in brackets: "broadcast(type, count, root)".
struct Signature {
  std::string_view operation;
  std::span<const std::int64_t> values;
};
[[nodiscard]] std::string text_of(const Signature& signature);

// One side of an exchange between two ranks; -1: nobody. `says` is what sender and receiver must agree on: a type and a
// count, as a number.
struct Give {
  int to;
  const void* data;
  std::int64_t bytes;
  std::uint64_t says;
};
struct Take {
  int from;
  void* data;
  std::int64_t bytes;
  std::uint64_t says;
};

class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Throws InvalidArgument on all ranks, naming two that differ and what each said, unless all said the same. The
  // number of collective operations so far counts too, so that two operations in different order are found. MPI may
  // be told not to check (TRN_COMM_CHECK=0).
  virtual void check(const Signature& signature) = 0;
  // The same for an operation whose next step is one of the collective calls below on every rank that says this: a
  // transport may wait with the comparison until then, and compares before anything moves.
  virtual void announce(const Signature& signature) { check(signature); }

  virtual void broadcast(int root, void* data, std::int64_t bytes) = 0;
  // `mine` of rank r arrives at all + r * bytes on every rank.
  virtual void all_gather(const void* mine, std::int64_t bytes, void* all) = 0;
  // Rank r gets send_bytes[r] bytes from send + send_offsets[r]. What rank r sends lands at receive +
  // receive_offsets[r] and has receive_bytes[r] bytes, which is what it sends.
  virtual void all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                          std::span<const std::int64_t> send_offsets, void* receive,
                          std::span<const std::int64_t> receive_bytes,
                          std::span<const std::int64_t> receive_offsets) = 0;
  // Gives to one rank and takes from another; -1: nobody. Both sides agree on the bytes.
  virtual void send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                            std::int64_t receive_bytes) = 0;
  // The same, and where the two sides of a pair do not say the same, both throw InvalidArgument and nothing has moved
  // between them. Made of three send_receive() unless the transport knows better.
  virtual void exchange(const Give& give, const Take& take);
  virtual void barrier() = 0;

  // Groups of the ranks that say the same colour, in the order of (key, rank). Collective.
  [[nodiscard]] virtual std::shared_ptr<Transport> split(int color, int key) = 0;
};

}  // namespace trn::comm
