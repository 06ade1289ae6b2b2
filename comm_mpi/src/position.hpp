// Where this process is: the collective operation it is in or was in last, so that a watchdog, an exception or a deadly
// signal can say so. Lines are made and written without memory allocation: a signal handler may do it.
#pragma once

#include <csignal>
#include <cstdint>
#include <string_view>

#include <trn/comm/transport.hpp>

namespace trn::comm::detail {

struct Position {
  static constexpr int kValues = 8;
  int rank = 0, size = 1;   // in the group of the operation
  int world_rank = 0;       // in MPI_COMM_WORLD
  std::uint64_t call = 0;   // the operation's number in its group
  char operation[96] = "";  // "" before the first one
  int values_count = 0;     // as many as were said; the first kValues are kept
  std::int64_t values[kValues] = {};
  volatile std::sig_atomic_t waiting = 0, said = 0;  // in a wait; the watchdog has said where

  void set(int rank_of_group, int size_of_group, std::uint64_t number, const Signature& signature);
  void set(int rank_of_group, int size_of_group, std::string_view call_name);
};
[[nodiscard]] Position& position();

// One line of text for stderr.
class Line {
 public:
  Line& operator<<(std::string_view text);
  Line& operator<<(std::int64_t number);
  // "rank 1 of 3 (2 of the job)", the second number where it differs, or "rank 1 of 3".
  Line& rank(const Position& p);
  // "broadcast(float32, count 12, root 0), call 5", or "no operation yet".
  Line& operation(const Position& p);
  [[nodiscard]] std::string_view text() const { return {text_, static_cast<std::size_t>(length_)}; }
  // With "trn::comm: " in front and in one call, so that lines of several ranks do not mix.
  void print() const;

 private:
  static constexpr int kSize = 1000;
  char text_[kSize];
  int length_ = 0;
};

}  // namespace trn::comm::detail
