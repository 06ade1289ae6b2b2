// Views as packed host memory: see staging.hpp.
#include "staging.hpp"

#include <fmt/format.h>

#include <trn/core/array.hpp>

namespace trn::comm::detail {

std::string source_problem(const char* name, const Bytes& view) {
  if (count_of(view) > 0 && !view.data) {
    return fmt::format("{} has no data although its shape is {}", name, to_string(view.shape));
  }
  return "";
}

std::string target_problem(const char* name, const Bytes& view) {
  // An empty view has no places: the strides of one that a rank without elements makes may be 0.
  for (std::size_t i = 0; i < view.shape.size() && count_of(view) > 0; ++i) {
    if (view.shape[i] > 1 && view.strides[i] == 0) {
      return fmt::format("{} has stride 0 over an extent of {}: several values for one place", name, view.shape[i]);
    }
  }
  return source_problem(name, view);
}

void agree_on(const Communicator& group, std::string_view operation, std::span<const std::int64_t> values,
              const std::string& problem, bool moves) {
  if (problem.empty()) {
    return moves ? group.transport().announce({operation, values}) : group.transport().check({operation, values});
  }
  const std::string text = fmt::format("{} ({})", operation.substr(0, operation.find('(')), problem);
  group.transport().check({text, {}});
  fail<InvalidArgument>("comm: {}: {}", operation.substr(0, operation.find('(')), problem);
}

Staged::Staged(const Bytes& view, bool always) : view_(view), bytes_(bytes_of(view)) {
  const bool in_place = !always && view.executor.family() == Family::Host && is_row_major(view.shape, view.strides);
  if (!in_place) block_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  data_ = in_place ? static_cast<std::byte*>(view.data) : block_.get();
}

void Staged::load() const {
  if (!block_) return;
  const Strides packed = row_major_strides(view_.shape);
  const Executor host = Executor::host();
  trn::detail::copy_elements({&view_.executor, view_.data, &view_.shape, &view_.strides},
                             {&host, data_, &view_.shape, &packed}, size_bytes(view_.dtype));
}

void Staged::store() const {
  if (!block_) return;
  const Strides packed = row_major_strides(view_.shape);
  const Executor host = Executor::host();
  trn::detail::copy_elements({&host, data_, &view_.shape, &packed},
                             {&view_.executor, view_.data, &view_.shape, &view_.strides}, size_bytes(view_.dtype));
}

bool meet(const Bytes& a, const Bytes& b) {
  if (!(a.executor == b.executor) || count_of(a) == 0 || count_of(b) == 0) return false;
  const auto range = [](const Bytes& v) {
    const OffsetRange r = offset_range(v.shape, v.strides);
    const auto base = reinterpret_cast<std::intptr_t>(v.data);
    const std::int64_t size = size_bytes(v.dtype);
    return std::pair(base + r.lowest * size, base + (r.highest + 1) * size);
  };
  const auto [a_begin, a_end] = range(a);
  const auto [b_begin, b_end] = range(b);
  return a_begin < b_end && b_begin < a_end;
}

Counts::Counts(int ranks, std::int64_t each, std::int64_t step)
    : bytes(static_cast<std::size_t>(ranks), each), offsets(static_cast<std::size_t>(ranks)) {
  for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = static_cast<std::int64_t>(r) * step;
}

}  // namespace trn::comm::detail
