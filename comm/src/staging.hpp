// What collectives need of a view before and after bytes move: is it legal, and where in host memory is it, packed?
#pragma once

#include <memory>
#include <string>

#include <trn/comm/collectives.hpp>

namespace trn::comm::detail {

[[nodiscard]] inline std::int64_t count_of(const Bytes& view) { return element_count(view.shape); }
[[nodiscard]] inline std::int64_t bytes_of(const Bytes& view) { return byte_count(view.shape, size_bytes(view.dtype)); }

// What is wrong with a view that is read, or with one that is written; empty when nothing is.
[[nodiscard]] std::string source_problem(const char* name, const Bytes& view);
[[nodiscard]] std::string target_problem(const char* name, const Bytes& view);

// Collective: all ranks say the same operation and values and have no problem; otherwise all throw InvalidArgument. A
// rank's own problem is part of what it says, so that the others learn of it. `moves`: a collective call of the
// transport follows at once, which may do the comparing; whether one does depends on the values alone.
void agree_on(const Communicator& group, std::string_view operation, std::span<const std::int64_t> values,
              const std::string& problem, bool moves);

// The elements of a view, row-major and packed in host memory: in place where they are so already.
class Staged {
 public:
  // `always`: never in place.
  explicit Staged(const Bytes& view, bool always = false);
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void load() const;   // from the view
  void store() const;  // to the view

 private:
  Bytes view_;
  std::int64_t bytes_;
  std::unique_ptr<std::byte[]> block_;
  std::byte* data_;
};

// Whether the memory of two views meets.
[[nodiscard]] bool meet(const Bytes& a, const Bytes& b);

// For every pair of ranks the same.
struct Counts {
  Counts(int ranks, std::int64_t bytes, std::int64_t step);
  std::vector<std::int64_t> bytes, offsets;
};

// into = into (+, min, max) other, element by element.
void combine(Reduction reduction, DType dtype, std::int64_t count, void* into, const void* other);
// NaN gets one form; nothing else changes. What a reduction over one rank does.
void settle(Reduction reduction, DType dtype, std::int64_t count, void* values);

}  // namespace trn::comm::detail
