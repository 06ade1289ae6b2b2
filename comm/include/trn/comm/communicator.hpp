// Communicator: a rank's handle on its group. Cheap; copies share the group.
//
// A rank is one executor (one logical core with its own memory) and the thread or process that drives it. Collective
// operations are called by every rank of the group, in the same order and with the same arguments where the
// documentation does not say otherwise; that is checked.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include <trn/comm/transport.hpp>

namespace trn::comm {

class Communicator {
 public:
  // A group of one.
  [[nodiscard]] static Communicator self();
  explicit Communicator(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  [[nodiscard]] Transport& transport() const { return *transport_; }
  // Collective: the ranks that say the same colour, in the order of (key, rank).
  [[nodiscard]] Communicator split(int color, int key = 0) const;
  // Collective. What an operation on distributed operands says before it begins (transport.hpp).
  void check(std::string_view operation, std::initializer_list<std::int64_t> values) const;
  // The same group, not merely one of the same ranks.
  friend bool operator==(const Communicator& a, const Communicator& b) { return a.transport_ == b.transport_; }

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace trn::comm
