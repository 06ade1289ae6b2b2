// The transport of a group of one: what it sends it receives.
#include <cstring>
#include <trn/comm/communicator.hpp>

namespace trn::comm {
namespace {

// memmove, which a null pointer must not reach.
void move_bytes(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

class Self : public Transport {
 public:
  [[nodiscard]] std::string_view name() const override { return "self"; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void check(const Signature&) override {}
  void broadcast(int root, void*, std::int64_t) override { require_self(root, "broadcast"); }
  void all_gather(const void* mine, std::int64_t bytes, void* all) override { move_bytes(all, mine, bytes); }
  void all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                  std::span<const std::int64_t> send_offsets, void* receive,
                  std::span<const std::int64_t> receive_bytes, std::span<const std::int64_t> receive_offsets) override {
    deliver(static_cast<const std::byte*>(send) + send_offsets[0], send_bytes[0],
            static_cast<std::byte*>(receive) + receive_offsets[0], receive_bytes[0]);
  }
  void send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                    std::int64_t receive_bytes) override {
    if (to < 0 && from < 0) return;
    require(to == 0 && from == 0, "comm: send_receive to rank {} and from rank {} in a group of one", to, from);
    deliver(send, send_bytes, receive, receive_bytes);
  }
  void exchange(const Give& give, const Take& take) override {
    require(give.to < 0 || take.from < 0 || give.says == take.says,
            "comm: rank 0 sends itself something of another type or count than it expects");
    send_receive(give.to, give.data, give.bytes, take.from, take.data, take.bytes);
  }
  void barrier() override {}
  [[nodiscard]] std::shared_ptr<Transport> split(int, int) override { return std::make_shared<Self>(); }

 private:
  static void require_self(int rank, const char* what) {
    require(rank == 0, "comm: {} from rank {} in a group of one", what, rank);
  }
  static void deliver(const void* from, std::int64_t send_bytes, void* to, std::int64_t receive_bytes) {
    require(send_bytes == receive_bytes, "comm: rank 0 sends itself {} bytes and expects {}", send_bytes,
            receive_bytes);
    move_bytes(to, from, send_bytes);
  }
};

}  // namespace

Communicator Communicator::self() { return Communicator(std::make_shared<Self>()); }

}  // namespace trn::comm
