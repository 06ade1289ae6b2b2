// Operands that lie in host memory, which cublasXt and cusolverMg take: a device gets copies for the length of a call,
// and what is written is copied back at its end. The host executor works on them where they are.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <trn/blas/types.hpp>

#include "../memory.hpp"

namespace trn::capi::blas {

// The device's own memory: anything else, pinned memory too, is the host's.
[[nodiscard]] inline bool on_device(const void* address) {
  const auto block = block_of(address);
  return block && block->kind != MemoryKind::Pinned;
}

class Staging {
 public:
  explicit Staging(const Executor& executor) : executor_(executor) {}

  template <class T>
  [[nodiscard]] MatrixView<T> matrix(const char* what, T* a, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    require(a != nullptr, "{} is null", what);
    if (executor_.family() == Family::Host) return {executor_, a, rows, columns, 1, ld};
    using Value = std::remove_const_t<T>;
    const auto bytes = rows * columns * static_cast<std::int64_t>(sizeof(T));
    const auto line = static_cast<std::size_t>(rows) * sizeof(T);
    auto packed = std::make_shared<std::vector<Value>>(static_cast<std::size_t>(rows * columns));
    for (std::int64_t j = 0; j < columns; ++j) std::memcpy(packed->data() + j * rows, a + j * ld, line);
    auto copy = std::make_shared<Array<Value>>(executor_, std::vector<std::int64_t>{rows * columns});
    Value* const address = copy->data();
    copy_bytes(Executor::host(), packed->data(), executor_, address, bytes);
    finish_.emplace_back([=, this] {
      (void)copy;  // lives as long
      if constexpr (!std::is_const_v<T>) {
        copy_bytes(executor_, address, Executor::host(), packed->data(), bytes);
        for (std::int64_t j = 0; j < columns; ++j) std::memcpy(a + j * ld, packed->data() + j * rows, line);
      }
    });
    return {executor_, address, rows, columns, 1, rows};
  }
  // Once, when the work is done.
  void finish() {
    for (const auto& step : finish_) step();
  }

 private:
  const Executor& executor_;
  std::vector<std::function<void()>> finish_;
};

}  // namespace trn::capi::blas
