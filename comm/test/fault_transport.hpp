// A transport that does one thing wrong, once, around one that works.
#pragma once

#include <trn/comm/communicator.hpp>

namespace trn::comm::testing_support {

enum class Fault : std::uint8_t {
  None,
  Drop,      // a call that does nothing
  Truncate,  // one that moves fewer bytes than it was asked to
  Reorder,   // one that comes after the one behind it
};

class FaultTransport : public Transport {
 public:
  FaultTransport(const Communicator& inner, Fault fault) : keep_(inner), inner_(inner.transport()), fault_(fault) {}
  [[nodiscard]] std::string_view name() const override { return "fault"; }
  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  void check(const Signature& signature) override { inner_.check(signature); }
  void announce(const Signature& signature) override { inner_.announce(signature); }
  void broadcast(int root, void* data, std::int64_t bytes) override {
    if (drops()) return;
    inner_.broadcast(root, data, cut(bytes));
  }
  void all_gather(const void* mine, std::int64_t bytes, void* all) override {
    if (drops()) return;
    if (fault_ == Fault::Reorder && due()) return inner_.barrier();  // what belongs behind it comes first
    inner_.all_gather(mine, cut(bytes), all);
  }
  void all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                  std::span<const std::int64_t> send_offsets, void* receive,
                  std::span<const std::int64_t> receive_bytes, std::span<const std::int64_t> receive_offsets) override {
    if (drops()) return;
    std::vector<std::int64_t> shorter(send_bytes.begin(), send_bytes.end());
    for (std::int64_t& bytes : shorter) bytes = cut(bytes);
    inner_.all_to_all(send, shorter, send_offsets, receive, receive_bytes, receive_offsets);
  }
  void send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                    std::int64_t receive_bytes) override {
    if (drops()) return;
    inner_.send_receive(to, send, cut(send_bytes), from, receive, receive_bytes);
  }
  void exchange(const Give& give, const Take& take) override {
    if (drops()) return;
    Give shorter = give;
    shorter.bytes = cut(give.bytes);
    inner_.exchange(shorter, take);
  }
  void barrier() override { inner_.barrier(); }
  [[nodiscard]] std::shared_ptr<Transport> split(int color, int key) override { return inner_.split(color, key); }

 private:
  // The second call that moves data is the bad one.
  bool due() { return ++calls_ == 2; }
  bool drops() { return fault_ == Fault::Drop && due(); }
  std::int64_t cut(std::int64_t bytes) { return fault_ == Fault::Truncate && bytes > 0 && due() ? bytes - 1 : bytes; }

  Communicator keep_;
  Transport& inner_;
  Fault fault_;
  int calls_ = 0;
};

// A transport that has no exchange() of its own.
class PlainTransport : public FaultTransport {
 public:
  explicit PlainTransport(const Communicator& inner) : FaultTransport(inner, Fault::None) {}
  void exchange(const Give& give, const Take& take) override { Transport::exchange(give, take); }
};

}  // namespace trn::comm::testing_support
