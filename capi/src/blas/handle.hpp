// A cuBLAS handle, and Call: how one routine sees its arguments. Call turns addresses into views after it has looked
// every extent up in the map of memory, reads scalars where the pointer mode says they are, and chooses the precision.
#pragma once

#include <complex>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <trn/blas/storage.hpp>
#include <trn/blas/types.hpp>

#include <trnblas.h>

#include "../context.hpp"
#include "../memory.hpp"
#include "staging.hpp"

namespace trn::capi::blas {
// A set of names that several threads may use; forgets them all when they are many.
class Names {
 public:
  [[nodiscard]] bool has(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return names_.count(name) > 0;
  }
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (names_.size() > 1000) names_.clear();
    names_.insert(name);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> names_;
};
}  // namespace trn::capi::blas

struct trnblasContext : trn::capi::Context {
  using Context::Context;
  trnblasPointerMode_t pointer_mode = TRNBLAS_POINTER_MODE_HOST;
  trnblasAtomicsMode_t atomics_mode = TRNBLAS_ATOMICS_NOT_ALLOWED;
  trnblasMath_t math_mode = TRNBLAS_DEFAULT_MATH;
  trnblasEmulationStrategy_t emulation = TRNBLAS_EMULATION_STRATEGY_DEFAULT;
  // Asked for by name; wins over the math mode.
  std::optional<trn::Precision> precision = trn::capi::initial_precision();
  double bound = 0;              // of the last product
  trn::capi::blas::Names known;  // products that ran with success: see call_queued
};

namespace trn::capi::blas {

namespace tb = trn::blas;
using tb::Diag, tb::Op, tb::Real, tb::Scalar, tb::Side, tb::Uplo;

[[nodiscard]] Op op_of(trnblasOperation_t op);
[[nodiscard]] Uplo uplo_of(trnblasFillMode_t uplo);
[[nodiscard]] Side side_of(trnblasSideMode_t side);
[[nodiscard]] Diag diag_of(trnblasDiagType_t diag);

// (count - 1) * step + 1 elements of `size` bytes; throws InvalidArgument when that does not fit 64 bits.
[[nodiscard]] std::int64_t span_bytes(std::int64_t count, std::int64_t step, std::int64_t line, std::int64_t size);

class Call {
 public:
  explicit Call(trnblasContext& h) : handle(h), executor(h.device->executor) {}

  trnblasContext& handle;
  const Executor& executor;

  [[nodiscard]] bool host_scalars() const { return handle.pointer_mode == TRNBLAS_POINTER_MODE_HOST; }
  // Scalars and small results, in host or device memory as the pointer mode says.
  template <class T>
  [[nodiscard]] T read(const T* address, const char* what = "a scalar", std::int64_t index = 0) const {
    require(address != nullptr, "{} is null", what);
    if (host_scalars()) return address[index];
    T value;
    copy_bytes(executor, device_memory(*handle.device, what, address + index, sizeof(T)), Executor::host(), &value,
               sizeof(T));
    return value;
  }
  template <class T> void write(T* address, T value, const char* what = "the result", std::int64_t index = 0) const {
    require(address != nullptr, "{} is null", what);
    if (host_scalars()) {
      address[index] = value;
      return;
    }
    copy_bytes(Executor::host(), &value, executor, device_memory(*handle.device, what, address + index, sizeof(T)),
               sizeof(T));
  }

  // A column-major matrix.
  template <class T> [[nodiscard]] MatrixView<T> matrix(const char* what, T* a, std::int64_t rows, std::int64_t columns,
                                                        std::int64_t ld) const {
    require(rows >= 0 && columns >= 0, "{} is {} x {}; extents must be >= 0", what, rows, columns);
    require(ld >= std::max<std::int64_t>(1, rows), "the leading dimension of {} is {}; it must be at least {}", what,
            ld, std::max<std::int64_t>(1, rows));
    if (rows > 0 && columns > 0) {
      if (on_host(a)) return staging->matrix(what, a, rows, columns, ld);
      a = device_memory(*handle.device, what, a, span_bytes(columns, ld, rows, sizeof(T)));
    }
    return {executor, a, rows, columns, 1, ld};
  }
  // A matrix that a factor of zero leaves unread: it may be any address.
  template <class T> [[nodiscard]] MatrixView<const T> unread(std::int64_t rows, std::int64_t columns) const {
    return {executor, nullptr, rows, columns, 1, 1};
  }
  // BLAS counts a vector with a negative increment from its last address.
  template <class T>
  [[nodiscard]] VectorView<T> vector(const char* what, T* x, std::int64_t n, std::int64_t inc) const {
    require(n >= 0, "{} has {} elements; it must have >= 0", what, n);
    require(inc != INT64_MIN, "the increment of {} is too large", what);
    if (n > 0 && inc == 1 && on_host(x)) return {executor, staging->matrix(what, x, n, 1, n).data(), n, 1};
    if (n > 0) x = device_memory(*handle.device, what, x, span_bytes(n, inc < 0 ? -inc : inc, 1, sizeof(T)));
    return {executor, inc < 0 && n > 0 ? x - (n - 1) * inc : x, n, inc};
  }
  template <class T> [[nodiscard]] tb::PackedView<T> packed(const char* what, T* a, std::int64_t n, Uplo uplo) const {
    require(n >= 0 && n < (std::int64_t{1} << 31), "{} has order {}; it must be between 0 and 2^31 - 1", what, n);
    if (n > 0) a = device_memory(*handle.device, what, a, span_bytes(n * (n + 1) / 2, 1, 1, sizeof(T)));
    return {executor, a, n, uplo};
  }
  template <class T> [[nodiscard]] tb::BandView<T> band(const char* what, T* a, std::int64_t rows, std::int64_t columns,
                                                        std::int64_t kl, std::int64_t ku, std::int64_t ld) const {
    require(rows >= 0 && columns >= 0 && kl >= 0 && ku >= 0, "{} is {} x {} with {} and {} diagonals; all must be >= 0",
            what, rows, columns, kl, ku);
    require(ld > kl && ld - kl > ku, "the leading dimension of {} is {}; it must be at least {}", what, ld,
            kl + ku + 1);
    if (rows > 0 && columns > 0)
      a = device_memory(*handle.device, what, a, span_bytes(columns, ld, kl + ku + 1, sizeof(T)));
    return {executor, a, rows, columns, kl, ku, ld};
  }
  // One triangle of a band: kl or ku is 0.
  template <class T> [[nodiscard]] tb::BandView<T> triangle_band(const char* what, T* a, std::int64_t n, std::int64_t k,
                                                                 std::int64_t ld, Uplo uplo) const {
    return band(what, a, n, n, uplo == Uplo::Lower ? k : 0, uplo == Uplo::Upper ? k : 0, ld);
  }
  // An array of addresses in device memory.
  template <class P>
  [[nodiscard]] std::vector<P> addresses(const char* what, const P* array, std::int64_t count) const {
    const auto bytes = span_bytes(count, 1, 1, sizeof(P));
    const P* const from = device_memory(*handle.device, what, array, bytes);
    std::vector<P> host(static_cast<std::size_t>(count));
    if (count > 0) copy_bytes(executor, from, Executor::host(), host.data(), bytes);
    return host;
  }

  // Of products of T: what was asked for by name, else what the math mode says. A device has no float64 but Exact.
  template <class T> [[nodiscard]] Precision precision() const {
    if (handle.precision) return *handle.precision;
    constexpr bool wide = sizeof(Real<T>) == 8;
    if (wide) {
      const bool emulated = handle.math_mode == TRNBLAS_FP64_EMULATED_FIXEDPOINT_MATH;
      return emulated || executor.family() == Family::Device ? Mode::Exact : Mode::Native;
    }
    if (handle.math_mode == TRNBLAS_TF32_TENSOR_OP_MATH) return Mode::Tf32;
    if (handle.math_mode == TRNBLAS_FP32_EMULATED_BF16X9_MATH) return Mode::Bf16x6;
    return Mode::Native;
  }
  void keep(const Accuracy& accuracy) { handle.bound = accuracy.bound; }

  // Where operands may lie in host memory; null where they must not.
  Staging* staging = nullptr;
  [[nodiscard]] bool on_host(const void* address) const { return staging && !on_device(address); }

  // The last step of a routine that may be queued: everything is checked and every scalar read. `what` says all that
  // decides whether there is a kernel for it; empty, the step is waited for.
  void perform(const std::string& what, std::function<void()> step) {
    if (!queueing) return step();
    pending_what = what, pending = std::move(step);
  }
  bool queueing = false;
  std::string pending_what;
  std::function<void()> pending;
};

struct Face : Statuses<trnblasStatus_t, 1, 7, 15, 3, 13, 14> {
  using Call = blas::Call;
  static auto find(trnblasHandle_t handle) { return living(handle); }
};
// A call of a routine that ends in perform(): checks happen at once, the last step in the stream, behind the
// caller, who gets a failure of it from the next synchronisation. The first of its kind is waited for: whether there is
// a kernel is known then, and NOT_SUPPORTED is never late. So is a call with scalars in device memory, and one whose
// precision is a target, which depends on the operands' values.
template <class F> trnblasStatus_t call_queued(trnblasHandle_t handle, const char* function, const F& body) noexcept {
  return call<Face>(function, [&] {
    const auto alive = living(handle);
    Call c(*alive);
    const bool target = alive->precision && alive->precision->has_target();
    if (!c.host_scalars() || target || launch_blocking()) return run(*alive->stream, [&] { body(c); });
    c.queueing = true;
    body(c);
    if (!c.pending) return;
    if (alive->known.has(c.pending_what) || alive->stream->captured()) {
      enqueue(*alive->stream, [alive, step = std::move(c.pending)] { step(); });
      return;
    }
    run(*alive->stream, c.pending);
    if (!c.pending_what.empty()) alive->known.add(c.pending_what);
  });
}
// What the libraries have whose handles are cuBLAS's by another name.
inline void set_stream(Call& c, trnStream_t stream) { capi::set_stream(c.handle, stream); }
inline void get_stream(Call& c, trnStream_t* stream) { answer("streamId", stream, c.handle.stream_handle); }

}  // namespace trn::capi::blas
