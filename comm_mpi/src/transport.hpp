// The transport over MPI: collective operations made of messages (wire.hpp), so that every wait has a clock, every
// length is compared, counts have 64 bits, and no reduction of MPI is called.
#pragma once

#include <trn/comm/transport.hpp>

#include "wire.hpp"

namespace trn::comm::detail {

struct MpiSettings {
  double limit_seconds = 300;
  std::int64_t chunk_bytes = std::int64_t{1} << 30U;
  bool check = true;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(std::shared_ptr<MpiHandle> group, std::shared_ptr<MpiHandle> job, const MpiSettings& settings);

  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] int rank() const override { return wire_.rank(); }
  [[nodiscard]] int size() const override { return wire_.size(); }
  void check(const Signature& signature) override;
  void broadcast(int root, void* data, std::int64_t bytes) override;
  void all_gather(const void* mine, std::int64_t bytes, void* all) override;
  void all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                  std::span<const std::int64_t> send_offsets, void* receive,
                  std::span<const std::int64_t> receive_bytes, std::span<const std::int64_t> receive_offsets) override;
  void send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                    std::int64_t receive_bytes) override;
  void exchange(const Give& give, const Take& take) override;
  void barrier() override;
  [[nodiscard]] std::shared_ptr<Transport> split(int color, int key) override;

 private:
  // The smallest and the largest of all ranks' values, or only a meeting. In round k a rank tells the one 2^k after
  // it; both are idempotent, so that what is heard twice does no harm, and any number of ranks will do.
  struct Extremes {
    std::uint64_t least, most;
  };
  [[nodiscard]] Extremes extremes(std::uint64_t mine);
  [[noreturn]] void throw_difference(const Signature& signature);
  void broadcast_tree(int root, std::byte* data, std::int64_t bytes);
  void broadcast_chain(int root, std::byte* data, std::int64_t bytes);
  void all_gather_short(const std::byte* mine, std::int64_t bytes, std::byte* all);
  void all_gather_ring(const std::byte* mine, std::int64_t bytes, std::byte* all);
  // One message as chunks. The two sides of it cut alike.
  void chunks(int to, const std::byte* send, std::int64_t send_bytes, int from, std::byte* receive,
              std::int64_t receive_bytes, Tag tag);

  Wire wire_;
  MpiSettings settings_;
  std::uint64_t calls_ = 0;
};

}  // namespace trn::comm::detail
